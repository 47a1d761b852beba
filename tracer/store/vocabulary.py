"""What has the compressor of rows seen before it begins? Common words, and the shapes of records.

A message of a kilobyte is too short to repeat itself much, so what any message may hold is known beforehand. Never
to be changed: a store that was written with it is read with it for ever; another vocabulary is another form of row.
"""

from __future__ import annotations

from typing import Final

WORDS: Final = (
    b" "
    b"about above according account action actually address after again against agent agree allowed "
    b"already also although always amount analysis another answer anything approach are argument around "
    b"array article assistant attempt available average back based because become been before begin behind "
    b"being below best better between both break bring build business but call called came can cannot case "
    b"cause certain change changed changes check choose city class clear client close code column come "
    b"command comment common company compare complete computer condition consider contain contains content "
    b"context continue control correct could country course create created current customer data database "
    b"date days default define delete describe details developer development did difference different "
    b"directly document does doing done down during each early easy effect either else email enough ensure "
    b"entire entry environment error especially even event ever every everything exactly example except "
    b"existing expect experience explain export expression fact failed false family feature feel few field "
    b"figure file files final find first follow following for form format forward found four free from "
    b"full function further future general generate get getting give given good government great group had "
    b"handle happen hard has have head health help her here high him his history home hours house how "
    b"however human idea identify image import important improve include includes including increase index "
    b"individual information input inside install instance instead integer interest interface internal "
    b"international into involved issue item items itself job join just keep key kind knowledge known "
    b"language large last late later latest leader learning least leave left length less let level life "
    b"like likely limit line lines list little live local location long longer look made main make makes "
    b"making management many market matter maximum may mean means member memory message messages method "
    b"might mind minimum minutes missing mode model module moment money month more most move much multiple "
    b"must name names national natural necessary need needed needs network never new next night none not "
    b"note nothing notice number object obtain off office often old once one only open operation option "
    b"options order original other others otherwise our out output over own package page paper parameter "
    b"parameters part particular parts party pass path pattern people per perform performance period "
    b"person place plan please point policy political position possible power present press previous price "
    b"private probably problem process product production program project property provide provided "
    b"provides public purpose put python quality query question quite range rate rather read reading ready "
    b"real really reason receive recent record reference related release remember remove report request "
    b"require required requirements research resource response rest result results return returns review "
    b"right role room rule rules run running said same save says schedule school science search second "
    b"section security see seems select send sense sent series server service services session set several "
    b"shall she short should show side similar simple since single size small social software solution "
    b"some someone something sometimes soon source space special specific specify stage standard start "
    b"state statement status step steps still store story string strong structure student study style "
    b"subject such suggest summary support sure system systems table take taken target task team "
    b"technology tell terms test tests text than thank that the their them themselves then theory there "
    b"therefore these they thing things think third this those though thought three through thus time "
    b"times title today together told too tool top total toward trade training true try trying turn two "
    b"type types under understand unit united university unless until update upon use used useful user "
    b"users uses using usually valid value values variable various version very view wait want was water "
    b"way ways week weight welcome well went were what when where whether which while white who whole "
    b"whose why wide will window with within without woman word words work working works world would write "
    b"writing written wrong year years yes yet you young your "
    b"and then, for example, in order to, as well as, such as the, it is not, that is, there are, if the, "
    b"you can use the, of this, in the, to the, on the, with the, from the, by the, at the, for the, that "
    b"the, and the, of the "
)
"""Frequent English words and turns, and words of programs: what people, models and tools write."""

SHAPES: Final = (
    b'{"agent":"","entrypoint":"","plan":{"objective":"","version":""},"sealing":true,"owner":"'
    b'{"who":"","why":"","from_sequence":1,"ruling":"continue","findings":[{"clause":"","ruling":"","what":"",'
    b'"remedy":"","subject":"","migrations":[],"renamed":[],"identity_before":{"reconciled":[],"doubts":[],'
    b'"trace_before":null,"trace_after":"'
    b'{"plan":{"objective":"","version":""},"evidence":[],"effects":{"committed":0,"failed":0,"unknown":[],"last":null},'
    b'"permissions":{"grants":[],"used":[]},"identity":{"$#":\xff,"k":"d","c":11,"n":2000},"policy":{"$#":\xff,"n":'
    b'{"source":"","version":"","digest":"sha256:","read_at":"2026-01-01T00:00:00+00:00","kind":"'
    b'{"tool":"","kind":"write","args":{"args_digest":\xff,"identity_digest":\xff,"scope":"","ordinal":0,'
    b'"call_key":null,"key":"","attempt":1}{"tool":"","kind":"read","effect_id":"","call_key":null,"attempt":1,'
    b'"error":"","result":{"$tuple":[{"$datetime":"{"$bytes":"{"$set":[{"$obj":["'
    b'{"type":"text","text":"{"type":"tool_use","id":"toolu_","name":"","input":{"'
    b'{"type":"function","function":{"name":"","arguments":"{"tool_calls":[{"id":"call_","tool_call_id":"call_'
    b'{"$t":[[\xff,32],[\xff,32]]}{"$l":[{"$#":\xff,"n":1000},{"$#":\xff,"n":1000}]}'
    b'{"id":\xfe,"role":"tool","content":"{"id":\xfe,"role":"assistant","content":"{"id":\xfe,"role":"user","content":"'
    b'{"role":"assistant","content":"{"role":"user","content":"'
    b'{"$p":\xff,"o":[[1,0,[{"$#":\xff,"n":1000}]]],"d":1}'
    b'{"root":{"messages":{"$#":\xff,"k":"l","c":100,"n":10000}},"type":"State","version":1,'
    b'"contract":{"$#":\xff,"n":400,"s":1},"parent":\xfe}'
)
"""Records of ours, digests folded to one byte, and messages as the large APIs shape them; the most frequent last."""

VOCABULARY: Final = WORDS + SHAPES

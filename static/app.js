// What happens between two pages: theme, keys, folds, the live pill, the rail. No markup is made from text here.
"use strict";
(() => {
  const root = document.documentElement;
  const THEMES = ["system", "light", "dark"];
  const store = { get: (k) => { try { return localStorage.getItem(k); } catch { return null; } },
                  set: (k, v) => { try { localStorage.setItem(k, v); } catch { /* private window: not kept */ } } };
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const one = (selector, from = document) => from.querySelector(selector);

  // Runs before the first paint, so that a chosen theme does not flash.
  const theme = () => store.get("waypost-theme") || "system";
  const paint = () => {
    if (theme() === "system") delete root.dataset.theme; else root.dataset.theme = theme();
    const word = one("#theme span");
    if (word) word.textContent = theme()[0].toUpperCase() + theme().slice(1);
    document.dispatchEvent(new CustomEvent("waypost:theme"));
  };
  const turn = () => { store.set("waypost-theme", THEMES[(THEMES.indexOf(theme()) + 1) % 3]); paint(); };
  root.classList.add("js");
  paint();

  // ── keys ────────────────────────────────────────────────────
  const typing = (target) => target.closest("input, textarea, select, [contenteditable]");
  const rows = () => all("[data-row]");
  const move = (by, worth) => {
    const rail = all(worth ? ".rail [data-worth]" : ".rail a[data-seq]");
    if (one(".rail")) return walk(all(".rail a[data-seq]"), rail, by);
    const links = all("[data-row-link]");
    if (links.length) return step(links, by)?.click();
    const list = rows();
    const at = list.findIndex((row) => row.getAttribute("aria-selected") === "true");
    const next = list[Math.max(0, Math.min(list.length - 1, at + by))];
    if (!next) return;
    list.forEach((row) => row.removeAttribute("aria-selected"));
    next.setAttribute("aria-selected", "true");
    (one("a", next) || next).focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  };
  const step = (links, by) => {
    const at = links.findIndex((link) => link.hasAttribute("aria-current"));
    return links[Math.max(0, Math.min(links.length - 1, at + by))];
  };
  const walk = (every, wanted, by) => {
    const at = every.findIndex((link) => link.hasAttribute("aria-current"));
    const ahead = wanted.filter((link) => by > 0 ? every.indexOf(link) > at : every.indexOf(link) < at);
    const next = by > 0 ? ahead[0] : ahead[ahead.length - 1];
    if (next) open(next);
    else one(by > 0 ? "[data-more=older]" : "[data-more=newer]")?.click();
  };
  const change = (by) => {
    const list = all("[data-change]");
    const at = list.findIndex((row) => row.classList.contains("here"));
    const next = list[Math.max(0, Math.min(list.length - 1, at + by))];
    list.forEach((row) => row.classList.remove("here"));
    next?.classList.add("here");
    next?.scrollIntoView({ block: "center" });
  };
  // ── tapes: the fields of a pair show while it is pointed at or focused, and stay when it is opened ──
  const pairs = () => all("[data-pair]");
  const look = (link) => {
    const key = (link || one("[data-pair][aria-current]"))?.dataset.pair;
    all(".pair.seen").forEach((pair) => pair.classList.remove("seen"));
    if (link) link.closest(".pair").classList.add("seen");
    if (key && all("[data-fields]").some((part) => part.dataset.fields === key))
      all("[data-fields]").forEach((part) => { part.hidden = part.dataset.fields !== key; });
  };
  const stride = (by, worth) => {
    const list = pairs();
    const held = document.activeElement?.closest("[data-pair]") || one("[data-pair][aria-current]");
    const at = list.indexOf(held);
    const wanted = worth ? list.filter((link) => link.closest("[data-differs]")) : list;
    const ahead = wanted.filter((link) => by > 0 ? list.indexOf(link) > at : list.indexOf(link) < at);
    const next = by > 0 ? ahead[0] : ahead[ahead.length - 1];
    if (!next) return;
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest", inline: "center" });
  };
  const pointed = (event) => event.target.closest?.("[data-pair]");
  for (const kind of ["mouseover", "focusin"]) document.addEventListener(kind, (event) => { if (pointed(event)) look(pointed(event)); });
  for (const kind of ["mouseout", "focusout"]) document.addEventListener(kind, (event) => {
    if (pointed(event) && !event.relatedTarget?.closest?.("[data-pair]")) look(document.activeElement?.closest("[data-pair]"));
  });
  const choose = (link) => {
    pairs().forEach((other) => other.removeAttribute("aria-current"));
    link.setAttribute("aria-current", "true");
    history.replaceState(null, "", link.href);
    look(link);
  };
  const centre = () => {
    const [box, link] = [one(".tapes"), one("[data-pair][aria-current]")];
    if (box && link) box.scrollLeft = link.closest(".pair").offsetLeft - box.clientWidth / 2;
  };

  const press = (key) => {
    const target = one(`[data-key="${CSS.escape(key)}"]`);
    target?.click();
    return Boolean(target);
  };
  let prefix = "";
  const KEYS = {
    j: () => move(1), k: () => move(-1),
    J: () => one("[data-pair]") ? stride(1, true) : move(1, true), K: () => one("[data-pair]") ? stride(-1, true) : move(-1, true),
    ArrowRight: () => stride(1), ArrowLeft: () => stride(-1),
    "[": () => all("main details[open]").forEach((d) => { d.open = false; }),
    "]": () => all("main details:not(.picker)").forEach((d) => { d.open = true; }),
    n: () => change(1), p: () => change(-1), t: turn,
    u: () => one(".seg[aria-label=Layout] a:not([aria-current])")?.click(),
    "?": () => one("#help")?.showModal(),
    "/": () => { const field = one("#filter"); if (field) { field.focus(); field.select(); } else location.href = "/"; },
  };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { settle(); if (typing(event.target)) event.target.blur(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || one("dialog[open]")) return;
    if (event.target.id === "filter" && event.key === "Tab" && !event.shiftKey) {
      const completion = one(".completion");
      if (completion) { event.preventDefault(); completion.click(); }
      return;
    }
    if (typing(event.target)) return;
    if (prefix === "g") {
      prefix = "";
      const to = { r: "/", a: "/inbox", l: "/alerts" }[event.key];
      if (to) { event.preventDefault(); location.href = to; return; }
    }
    if (event.key === "g") { prefix = "g"; setTimeout(() => { prefix = ""; }, 1500); return; }
    if (press(event.key)) { event.preventDefault(); return; }
    const action = KEYS[event.key];
    if (event.key.startsWith("Arrow") && !one("[data-pair]")) return;
    if (action) { event.preventDefault(); action(); }
  });

  // ── the rail: a checkpoint opens beside it ──────────────────
  const open = (link) => {
    const detail = one("#detail");
    all(".rail a[aria-current]").forEach((other) => other.removeAttribute("aria-current"));
    link.setAttribute("aria-current", "true");
    reveal(link);
    if (!detail || !window.htmx) { location.href = link.href; return; }
    history.replaceState(null, "", link.href);
    const live = one("#live");
    if (live) live.setAttribute("hx-get", link.getAttribute("href"));
    htmx.ajax("GET", link.dataset.detail, { target: "#detail", swap: "innerHTML" });
    document.dispatchEvent(new CustomEvent("waypost:checkpoint", { detail: Number(link.dataset.seq) }));
  };
  // Scrolls the rail; the page only as far as the rail itself reaches under the fold.
  const reveal = (link) => {
    const rail = link?.closest(".rail");
    if (!rail) return;
    const [box, item] = [rail.getBoundingClientRect(), link.getBoundingClientRect()];
    if (item.top < box.top + 30) rail.scrollTop += item.top - box.top - 60;
    else if (item.bottom > box.bottom - 30) rail.scrollTop += item.bottom - box.bottom + 60;
    const below = link.getBoundingClientRect().bottom - (innerHeight - 48);
    if (below > 0 && below < 260) scrollBy({ top: below + 20 });
  };
  const more = async (link) => {
    const place = link.closest("li");
    const answer = await fetch(link.href, { headers: { "HX-Request": "true", "Waypost-Part": "rail" } });
    if (!answer.ok) { location.href = link.href; return; }
    const box = document.createElement("template");
    box.innerHTML = await answer.text();
    const older = link.dataset.more === "older";
    if (!older) all("[data-more=older]", box.content).forEach((other) => other.closest("li").remove());
    place.replaceWith(box.content);
    const note = one(".rail-note");
    if (note) note.textContent = note.textContent.replace(/^[\d,]+/, all(".rail a[data-seq]").length.toLocaleString("en-US"));
  };
  const plain = (event) => event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey;

  document.addEventListener("click", (event) => {
    const target = event.target.closest("a, button");
    if (!target || !plain(event)) return;
    if (target.id === "theme") turn();
    else if (target.dataset.more) { event.preventDefault(); more(target); }
    else if (target.dataset.pair) { event.preventDefault(); choose(target); }
    else if (target.dataset.seq && one("#detail")) { event.preventDefault(); open(target); }
    else if ("tab" in target.dataset && target.closest("#detail") && window.htmx) {
      event.preventDefault();
      htmx.ajax("GET", target.getAttribute("href"), { target: "#detail", swap: "innerHTML" });
    } else if (target.dataset.copy) {
      navigator.clipboard?.writeText(target.dataset.copy);
      const was = target.textContent;
      target.textContent = "copied";
      setTimeout(() => { target.textContent = was; }, 900);
    } else if (target.dataset.numbers) {
      const table = document.getElementById(target.dataset.numbers);
      table.hidden = !table.hidden;
      target.setAttribute("aria-expanded", String(!table.hidden));
    } else if (target.dataset.step) change(Number(target.dataset.step));
    else if (target.dataset.ask && !target.classList.contains("asked")) { event.preventDefault(); ask(target); }
  });

  // ── a decision asks once more, in place ─────────────────────
  const ask = (button) => {
    settle();
    const form = button.form;
    const why = one("[name=why]", form);
    if (button.value !== "approve" && !why.value.trim()) { why.required = true; why.reportValidity(); why.focus(); return; }
    why.required = false;
    form.classList.add("asking");
    button.classList.add("asked");
    button.dataset.was = one("span", button).textContent;
    one("span", button).textContent = button.dataset.ask;
  };
  const settle = () => all(".asked").forEach((button) => {
    button.classList.remove("asked");
    button.form.classList.remove("asking");
    one("span", button).textContent = button.dataset.was;
  });

  // ── live: stops while somebody reads further down or decides ─
  const busy = () => scrollY > 240 || Boolean(one(".asked, dialog[open], details.picker[open]"))
    || Boolean(document.activeElement && typing(document.activeElement)) || String(getSelection()).length > 0;
  document.addEventListener("htmx:before:request", (event) => {
    const live = one("#live");
    if (event.target !== live || document.hidden === false && !busy() && !live.dataset.stop) return;
    event.preventDefault();
    live.classList.add("held");
    one("span", live).textContent = "Held · go on";
  });
  document.addEventListener("click", (event) => {
    const live = event.target.closest("#live");
    if (!live) return;
    scrollTo({ top: 0 });
    live.classList.remove("held");
    one("span", live).textContent = "Live";
  });
  const local = () => all("[data-local]").forEach((place) => {
    const at = new Date(place.dataset.local);
    if (!Number.isNaN(at.getTime())) place.textContent = `(${at.toLocaleString([], { timeZoneName: "short" })} in your zone)`;
  });
  document.addEventListener("htmx:after:swap", local);
  document.addEventListener("DOMContentLoaded", () => {
    paint();
    local();
    centre();
    reveal(one(".rail a[aria-current]"));
  });
})();

"""Which agents show Waypost at real work? One package per example; a checkout is needed to run them."""

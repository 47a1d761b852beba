// <plotly-figure src>: fetches a figure and draws it, whether the page or a swap brought it; a new src, a new figure.
"use strict";
(() => {
  const TOKEN = /var\((--[\w-]+)\)/;
  const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
  const brush = canvas.getContext("2d", { willReadFrequently: true });

  // A custom property that holds light-dark() resolves only where it is used, so a probe uses it.
  const resolver = (host) => {
    const probe = document.createElement("span");
    probe.className = "probe";
    host.append(probe);
    const known = new Map();
    const colour = (name) => {
      if (!known.has(name)) {
        probe.style.color = `var(${name})`;
        brush.clearRect(0, 0, 1, 1);
        brush.fillStyle = getComputedStyle(probe).color;
        brush.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = brush.getImageData(0, 0, 1, 1).data;
        known.set(name, `rgba(${r},${g},${b},${(a / 255).toFixed(3)})`);
      }
      return known.get(name);
    };
    const resolve = (value) => {
      if (typeof value === "string") { const found = TOKEN.exec(value); return found ? colour(found[1]) : value; }
      if (Array.isArray(value)) return value.map(resolve);
      if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, resolve(v)]));
      return value;
    };
    return { resolve, done: () => probe.remove() };
  };

  class PlotlyFigure extends HTMLElement {
    static observedAttributes = ["src"];

    connectedCallback() {
      this.redraw = () => this.draw();
      this.pick = (event) => { this.setAttribute("selected", event.detail); this.select(); };
      document.addEventListener("waypost:theme", this.redraw);
      document.addEventListener("waypost:checkpoint", this.pick);
      this.scheme = matchMedia("(prefers-color-scheme: dark)");
      this.scheme.addEventListener("change", this.redraw);
      this.fit = new ResizeObserver(() => { if (this.drawn) Plotly.Plots.resize(this.area); });
      this.fit.observe(this);
      this.load();
    }

    disconnectedCallback() {
      document.removeEventListener("waypost:theme", this.redraw);
      document.removeEventListener("waypost:checkpoint", this.pick);
      this.scheme?.removeEventListener("change", this.redraw);
      this.fit?.disconnect();
      if (this.drawn) Plotly.purge(this.area);
      this.drawn = false;
    }

    attributeChangedCallback(_name, before) { if (before !== null && this.isConnected) this.load(); }

    get area() { return this.querySelector(".draw"); }

    async load() {
      const src = this.getAttribute("src");
      if (!src?.startsWith("/")) return;
      const answer = await fetch(src, { headers: { Accept: "application/json" } });
      if (!answer.ok || src !== this.getAttribute("src")) { this.classList.toggle("broken", !answer.ok); return; }
      this.spec = await answer.json();
      this.draw();
    }

    async draw() {
      if (!this.spec || !this.area || !window.Plotly) return;
      const { resolve, done } = resolver(this);
      const { data, layout } = resolve(this.spec);
      done();
      layout.font = { ...layout.font, family: getComputedStyle(this).fontFamily };
      await Plotly.react(this.area, data, layout, { displayModeBar: false, responsive: false, showTips: false });
      this.ready();
      this.select();
    }

    ready() {
      if (this.drawn) return;
      this.drawn = true;
      this.area.on("plotly_click", ({ points }) => {
        const href = points[0]?.customdata;
        if (typeof href !== "string" || !href.startsWith("/")) return;
        const seq = new URL(href, location.origin).searchParams.get("c");
        const link = seq && document.querySelector(`.rail a[data-seq="${CSS.escape(seq)}"]`);
        if (link) link.click(); else location.href = href;
      });
      const scroller = this.closest(".from-end");
      if (scroller) scroller.scrollLeft = scroller.scrollWidth;
    }

    select() {
      const sequence = Number(this.getAttribute("selected"));
      const shapes = this.area?.layout?.shapes;
      if (!this.drawn || !shapes) return;
      const at = this.spec.layout.meta?.columns?.find(([first, last]) => first <= sequence && sequence <= last);
      const change = {};
      shapes.forEach((shape, n) => {
        if (shape.name !== "selected") return;
        change[`shapes[${n}].visible`] = Boolean(at);
        if (at) ["x0", "x1", "y0", "y1"].forEach((side, k) => { change[`shapes[${n}].${side}`] = at[k + 2]; });
      });
      Plotly.relayout(this.area, change);
    }
  }
  customElements.define("plotly-figure", PlotlyFigure);
})();

// Where the page has a chart library, a button puts a chart to point at in the drawing's place. Nothing is fetched.
(function () {
  "use strict";
  if (!window.Chart) return;
  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }
  function short(value) {
    var units = ["", " k", " M", " G", " T", " P"], i = 0;
    while (Math.abs(value) >= 1000 && i + 1 < units.length) { value /= 1000; i++; }
    return parseFloat(value.toPrecision(3)) + units[i];
  }
  // On a logarithmic axis 1, 2 and 5 times powers of ten alone have room.
  function label(of, value) {
    var digit = value / Math.pow(10, Math.floor(Math.log10(value) + 1e-9));
    if (of.log && [1, 2, 5].every(function (round) { return Math.abs(digit - round) > 1e-6; })) return null;
    return of.percent ? Math.round(100 * value) + " %" : short(value);
  }
  function axis(of) {
    return {
      type: of.log ? "logarithmic" : "linear", min: of.low, max: of.high,
      title: { display: true, text: of.title, color: colour("--ink") },
      ticks: { color: colour("--muted"), callback: function (value) { return label(of, value); } },
      grid: { color: colour("--grid") }
    };
  }
  function datasets(marks) {
    var points = {}, all = [];
    marks.forEach(function (mark) {
      if (Array.isArray(mark)) {
        (points[mark[0]] = points[mark[0]] || []).push({ x: mark[1], y: mark[2], title: mark[3] });
        return;
      }
      var line = [];
      for (var i = 0; i + 1 < mark.at.length; i += 2) line.push({ x: mark.at[i], y: mark.at[i + 1], title: mark.name });
      all.push({ data: line, showLine: true, pointRadius: 0, borderWidth: 2, borderColor: colour(mark.series === 6 ? "--s8" : "--s" + mark.series), label: mark.name });
    });
    Object.keys(points).forEach(function (series) {
      all.unshift({ data: points[series], pointRadius: 4, pointHoverRadius: 7, backgroundColor: colour("--s" + series), label: "" });
    });
    return all;
  }
  function show(figure, drawing, data) {
    var box = document.createElement("div"), canvas = document.createElement("canvas");
    box.appendChild(canvas);
    drawing.before(box);
    return [box, new Chart(canvas, {
      type: "scatter", data: { datasets: datasets(data.marks) },
      options: {
        animation: false, aspectRatio: 1.9, scales: { x: axis(data.axes[0]), y: axis(data.axes[1]) },
        interaction: { mode: "nearest", intersect: false },
        plugins: { legend: { display: false }, tooltip: { callbacks: { label: function (item) {
          return item.raw.title + "  (" + short(item.raw.x) + ", " + short(item.raw.y) + ")";
        } } } }
      }
    })];
  }
  document.querySelectorAll("figure > script").forEach(function (script) {
    var figure = script.parentNode, drawing = figure.querySelector("svg"), button = document.createElement("button"), shown = null;
    function flip() {
      if (shown) { shown[1].destroy(); shown[0].remove(); shown = null; } else shown = show(figure, drawing, JSON.parse(script.textContent));
      drawing.style.display = shown ? "none" : "";
      button.textContent = shown ? "drawing" : "point at it";
    }
    button.type = "button";
    button.textContent = "point at it";
    button.addEventListener("click", flip);
    window.addEventListener("beforeprint", function () { if (shown) flip(); });
    figure.appendChild(button);
  });
})();

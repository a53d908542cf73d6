// probe.js: put into a copy of a page by tools/stage/check_report.sh; writes what the browser made of it into an element that --dump-dom shows.
(function () {
  "use strict";
  var faults = [];
  document.addEventListener("securitypolicyviolation", function (event) { faults.push("policy " + event.violatedDirective + " " + event.blockedURI); });
  window.addEventListener("error", function (event) { faults.push("error " + event.message); });
  window.addEventListener("load", function () {
    var lines = [], overlaps = 0;
    document.querySelectorAll("section").forEach(function (section) {
      section.querySelectorAll("svg").forEach(function (svg, number) {
        var box = svg.getBoundingClientRect();
        lines.push("box " + section.id + "-" + number + " " + [box.x, box.y + scrollY, box.width, box.height].map(Math.round).join(" "));
        svg.querySelectorAll("text").forEach(function (text) {
          var at = text.getBoundingClientRect();
          if (at.left < box.left - 1 || at.right > box.right + 1 || at.top < box.top - 1 || at.bottom > box.bottom + 1)
            faults.push("clipped in " + section.id + ": " + text.textContent);
        });
        var ticks = Array.from(svg.querySelectorAll("text.tick, text.column, text.key, text.axis"), function (text) { return text.getBoundingClientRect(); });
        ticks.forEach(function (a, i) {
          ticks.slice(i + 1).forEach(function (b) {
            if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2) overlaps++;
          });
        });
      });
    });
    var buttons = document.querySelectorAll("button");
    buttons.forEach(function (button) { button.click(); });
    lines.push("canvases " + document.querySelectorAll("canvas").length + " of " + buttons.length);
    buttons.forEach(function (button) { button.click(); });
    lines.push("left " + document.querySelectorAll("canvas").length);
    lines.push("overlaps " + overlaps);
    lines.push("loads " + performance.getEntriesByType("resource").length);
    lines.push("wide " + Math.max(0, document.documentElement.scrollWidth - innerWidth));
    lines.push("height " + document.documentElement.scrollHeight);
    setTimeout(function () {
      faults.forEach(function (fault) { lines.push("fault " + fault); });
      var out = document.createElement("pre");
      out.id = "probe";
      out.textContent = "\n" + lines.join("\n") + "\n";
      document.body.appendChild(out);
    }, 0);
  });
})();

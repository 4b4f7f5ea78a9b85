// What is wrong with a page as a browser shows it, written to the root element's data-problems below
// a line "inspected".
// tools/check_pages.sh puts this in front of everything else in the page.
(() => {
  const problems = [];
  const report = (what) => problems.push(what);
  window.addEventListener("error", (event) => report(`script: ${event.message}`));

  const name = (element) => {
    const card = element.closest("section, details, figure");
    const title = card && card.querySelector("h2, h3, summary");
    return `${element.tagName.toLowerCase()}${title ? ` in "${title.textContent.trim()}"` : ""}`;
  };

  // Everything that is folded is opened, everything that can be pressed is pressed.
  const operate = () => {
    document.querySelectorAll("details").forEach((element) => (element.open = true));
    document.querySelectorAll("button, th, [onclick]").forEach((element) => element.click());
    document.querySelectorAll("svg *").forEach((element) => {
      for (const kind of ["mouseover", "mousemove", "mouseout"]) {
        element.dispatchEvent(new MouseEvent(kind, {bubbles: true, clientX: 10, clientY: 10}));
      }
    });
  };

  const inspect = () => {
    const root = document.documentElement;
    if (root.scrollWidth > root.clientWidth) {
      report(`the page is ${root.scrollWidth - root.clientWidth} px wider than the window`);
    }
    for (const entry of performance.getEntriesByType("resource")) {
      report(`it fetches ${entry.name}`);
    }
    const seen = new Set();
    document.querySelectorAll("[id]").forEach((element) => {
      if (seen.has(element.id)) report(`two elements have the id ${element.id}`);
      seen.add(element.id);
    });
    document.querySelectorAll('a[href^="#"]').forEach((link) => {
      if (!seen.has(link.getAttribute("href").slice(1))) {
        report(`a link leads nowhere: ${link.getAttribute("href")}`);
      }
    });
    const nonsense = /\b(NaN|undefined|Infinity)\b|(^|\s)-?(nan|inf)($|\s)/;
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      const code = node.parentElement.closest("script, style, code, pre");
      if (!code && nonsense.test(node.textContent)) {
        report(`${name(node.parentElement)} says "${node.textContent.trim()}"`);
      }
    }
    document.querySelectorAll("svg").forEach((svg) => {
      const frame = svg.getBoundingClientRect();
      if (svg.querySelector("*") === null) report(`${name(svg)} is empty`);
      svg.querySelectorAll("*").forEach((element) => {
        for (const attribute of element.attributes) {
          if (/\b(nan|inf|NaN)\b/.test(attribute.value)) {
            report(`${name(svg)}: ${element.tagName} has ${attribute.name}="${attribute.value}"`);
          }
        }
      });
      const labels = [...svg.querySelectorAll("text")].map((label) => ({
        text: label.textContent.trim(),
        box: label.getBoundingClientRect(),
      }));
      const visible = labels.filter((label) => label.text !== "" && label.box.width > 0);
      for (const {text, box} of visible) {
        const out = Math.max(frame.left - box.left, box.right - frame.right,
                             frame.top - box.top, box.bottom - frame.bottom);
        if (frame.width > 0 && out > 2) {
          report(`${name(svg)}: the label "${text}" is cut off by ${Math.round(out)} px`);
        }
      }
      visible.forEach((one, i) => visible.slice(i + 1).forEach((other) => {
        const width = Math.min(one.box.right, other.box.right) -
                      Math.max(one.box.left, other.box.left);
        const height = Math.min(one.box.bottom, other.box.bottom) -
                       Math.max(one.box.top, other.box.top);
        if (width > 2 && height > 0.5 * Math.min(one.box.height, other.box.height)) {
          report(`${name(svg)}: the labels "${one.text}" and "${other.text}" overlap`);
        }
      }));
    });
  };

  window.addEventListener("load", () => {
    operate();
    inspect();
    document.documentElement.dataset.problems =
        ["inspected", ...new Set(problems)].slice(0, 21).join("\n");
  });
})();

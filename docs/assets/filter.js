// Filters the table of rules, and answers on the page of error messages. Without JavaScript both pages show everything.
(function () {
  const script = document.currentScript.src;

  function element(tag, values) {
    return Object.assign(document.createElement(tag), values);
  }

  function plain(text) {
    return text.toLowerCase().replace(/[`'"]/g, "").replace(/\s+/g, " ").trim();
  }

  // Shows the parts that all tests let through, and counts them.
  function filters(before, parts, noun, choices) {
    const bar = element("div", { className: "filters" });
    const field = element("input", { type: "search", placeholder: "Filter " + noun, ariaLabel: "Filter " + noun });
    const count = element("output", {});
    bar.append(field);
    const selects = choices.map(function (choice) {
      const select = element("select", { ariaLabel: choice.label });
      select.append(new Option("any " + choice.label, ""));
      Array.from(new Set(parts.map(choice.of))).filter(Boolean).sort().forEach(function (value) {
        select.append(new Option(value, value));
      });
      select.addEventListener("change", apply);
      bar.append(select);
      return select;
    });
    bar.append(count);
    field.addEventListener("input", apply);
    before.parentNode.insertBefore(bar, before);

    function apply() {
      const wanted = field.value;
      let shown = 0;
      parts.forEach(function (part) {
        const fits = part.fits(wanted) && selects.every(function (select, index) {
          return !select.value || choices[index].of(part) === select.value;
        });
        part.nodes.forEach(function (node) { node.hidden = !fits; });
        shown += fits;
      });
      count.textContent = shown + " of " + parts.length;
    }
    apply();
  }

  function rules(article) {
    const table = article.querySelector("table");
    if (!table) return;
    const names = Array.from(table.querySelectorAll("th"), function (cell) { return cell.textContent.toLowerCase(); });
    const parts = Array.from(table.querySelectorAll("tbody tr"), function (row) {
      const text = plain(row.textContent);
      const cells = Array.from(row.cells, function (cell) { return cell.textContent.trim(); });
      return { nodes: [row], cells: cells, fits: function (wanted) { return text.includes(plain(wanted)); } };
    });
    const choices = ["level", "fix", "start method", "default"].map(function (label) {
      return { label: label, of: function (part) { return part.cells[names.indexOf(label)] || ""; } };
    });
    filters(table.closest(".md-typeset__scrollwrap") || table, parts, "rules", choices);
  }

  // The page of messages and questions: what is typed or pasted is answered as `--explain` does, with the sections of
  // the page of answers.
  function errors(article) {
    const first = article.querySelector("h2");
    if (!first) return;
    const box = element("div", { className: "filters" });
    const field = element("textarea", {
      rows: 2, placeholder: "Paste a message or traceback, or ask: memory grows each epoch", ariaLabel: "Ask",
    });
    const said = element("output", {});
    box.append(field, said);
    const answers = element("div", { className: "answers" });
    const items = Array.from(article.querySelectorAll(":scope > ul:last-of-type > li"));
    const tables = element("div", {});  // the theme wraps each table, so that hiding the tables themselves does not help
    first.before(box, answers, tables);
    while (tables.nextSibling) tables.append(tables.nextSibling);
    Promise.all([
      fetch(new URL("questions.json", script)).then(function (got) { return got.json(); }),
      fetch(new URL("../answers/", script)).then(function (got) { return got.text(); }).then(sections),
    ]).then(function (got) {
      field.addEventListener("input", function () { show(got[0], got[1], field.value); });
      show(got[0], got[1], field.value);
    });

    function show(index, parts, text) {
      const found = text.trim() ? window.dataloaderLintAnswer(index, text) : null;
      tables.hidden = found !== null;
      answers.replaceChildren();
      (found ? found.titles : []).forEach(function (title) {
        answers.append.apply(answers, (parts.get(title) || []).map(function (node) { return node.cloneNode(true); }));
      });
      const listed = element("ul", {});
      items.forEach(function (item) {
        const isListed = found && found.listed.some(function (each) { return item.textContent.startsWith(each); });
        if (isListed) listed.append(item.cloneNode(true));
      });
      if (listed.children.length) answers.append(listed);
      said.textContent = !text.trim() ? "" : !found ? "Nothing fits. Try the whole message, or other words."
        : found.isSure ? "" : "Nothing fits exactly; the closest:";
      (found ? found.names : []).forEach(function (each) {
        const name = each.code.toLowerCase() + "-" + each.name;
        said.append(element("a", { href: "../rules/" + name + "/", textContent: each.code + " " + each.name }), " ");
      });
    }
  }

  // The sections of the page of answers, by title: a heading of the third level and what stands below it.
  function sections(html) {
    const parts = new Map();
    let current = null;
    const page = new DOMParser().parseFromString(html, "text/html");
    Array.from(page.querySelector("article").children).forEach(function (node) {
      if (node.tagName === "H2") current = null;
      if (node.tagName === "H3") {
        parts.set(node.textContent.replace("\u00b6", "").trim(), current = []);
        const link = node.querySelector(".headerlink");
        if (link) link.href = "../answers/#" + node.id;
      }
      if (current) current.push(node);
    });
    return parts;
  }

  const article = document.querySelector("article");
  const path = location.pathname.replace(/index\.html$/, "");
  if (article && /\/rules\/$/.test(path)) rules(article);
  if (article && /\/errors\/$/.test(path)) errors(article);
})();

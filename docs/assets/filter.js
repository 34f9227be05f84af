// Filters the table of rules and the list of error messages. Without JavaScript both pages show everything.
(function () {
  function element(tag, values) {
    return Object.assign(document.createElement(tag), values);
  }

  function plain(text) {
    return text.toLowerCase().replace(/[`'"]/g, "").replace(/\s+/g, " ").trim();
  }

  // A message without what differs from program to program: the kind of error, names, addresses.
  function normal(text) {
    let bare = text.replace(/^[\w.]*(Error|Exception|Warning): /, "").replace(/(^|[^\w])('[^']*'|"[^"]*")/g, "$1...");
    for (let before = ""; before !== bare;) {
      before = bare;
      bare = bare.replace(/<[^<>]*>/g, "...");
    }
    return plain(bare);
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

  function errors(article) {
    const headings = Array.from(article.querySelectorAll("h2"));
    if (!headings.length) return;
    const parts = headings.map(function (heading) {
      const nodes = [heading];
      for (let next = heading.nextElementSibling; next && next.tagName !== "H2"; next = next.nextElementSibling) {
        nodes.push(next);
      }
      const written = heading.querySelector("code") ? heading.querySelector("code").textContent : "";
      const text = plain(nodes.map(function (node) { return node.textContent; }).join(" "));
      const pieces = normal(written).split("...").map(function (piece) { return piece.trim(); })
        .filter(function (piece) { return piece.length > 8; });
      return {
        nodes: nodes,
        // A pasted message is longer than what is listed; a few words of it are shorter.
        fits: function (wanted) {
          const pasted = normal(wanted);
          return text.includes(plain(wanted)) || (pieces.length > 0 && pieces.every(function (piece) {
            return pasted.includes(piece);
          }));
        },
      };
    });
    filters(headings[0], parts, "messages, or paste yours", []);
  }

  const article = document.querySelector("article");
  const path = location.pathname.replace(/index\.html$/, "");
  if (article && /\/rules\/$/.test(path)) rules(article);
  if (article && /\/errors\/$/.test(path)) errors(article);
})();

// Answers messages and questions as `--explain` does (dataloader_lint/rules/messages.py and rules/questions/), from the
// index that docs/questions.py makes. `answer(index, text)` gives { titles, listed, names, isSure } or null.
(function (root) {
  const QUOTES = /[`'"*\u2018\u2019\u201c\u201d]/g;
  const RAISED = /^(?:\W*\[[\w:]+\]:? ?)*(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception)\b/;
  const EXCEPTION = /^(?:\[[\w:]+\]:? ?)*(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception|Warning|Interrupt):?(?:\s+|$)/;
  const FRAME_LINE = /^(?:File "|Traceback \(|-+> ?\d+ )/;
  const ARROW = /^(?:-+>|\u276f|\u2771) *\d+ /;
  const RULED_OUT = /\b(?:not|rather than|instead of)\s+(?:the\s+|of\s+)?$/;

  function bare(text) {
    return text.replace(QUOTES, "").split(/\s+/).filter(Boolean).join(" ");
  }

  function plain(text) {
    const folded = text.replace(/https?:\/\/\S+/g, " ").normalize("NFKD").replace(/[\u0300-\u036f]/g, "");
    return bare(folded.normalize("NFKC").toLowerCase());
  }

  // Patterns are compiled once, when they are first needed.
  function prepared(index) {
    if (index.ready) return index.ready;
    const compile = function (sources) { return sources.map(function (one) { return new RegExp(one); }); };
    const near = {};
    index.vocabulary.forEach(function (word) {
      for (let at = 1; at < word.length; at++) near[word.slice(0, at) + word.slice(at + 1)] = word;
    });
    index.ready = {
      concepts: Object.entries(index.concepts).map(function (one) { return [one[0], new RegExp(one[1], "g")]; }),
      whole: Object.values(index.concepts).map(function (one) { return new RegExp("^(?:" + one + ")$"); }),
      vocabulary: new Set(index.vocabulary),
      near: near,
      frame: new Set(index.frame),
      symptoms: index.symptoms.map(function (one) {
        return {
          messages: compile(one.messages), unless: compile(one.unless), traced: one.traced.map(compile),
          total: Object.values(one.words).reduce(function (sum, count) { return sum + count; }, 0),
        };
      }),
    };
    return index.ready;
  }

  function spelled(ready, word) {
    const near = ready.near;
    if (ready.vocabulary.has(word) || ready.whole.some(function (one) { return one.test(word); })) return word;
    if (Object.hasOwn(near, word)) return near[word];
    for (let at = 1; at < word.length; at++) {
      const shorter = word.slice(0, at) + word.slice(at + 1);
      if (ready.vocabulary.has(shorter)) return shorter;
      if (Object.hasOwn(near, shorter) && near[shorter].length === word.length) return near[shorter];
    }
    return word;
  }

  function mentions(index, ready, text) {
    text = text.replace(/\p{L}{5,}/gu, function (word) { return spelled(ready, word); });
    const found = [];
    ready.concepts.forEach(function (each) {
      for (const match of text.matchAll(each[1])) {
        if (index.canBeRuledOut.includes(each[0]) && RULED_OUT.test(text.slice(0, match.index))) continue;
        found.push({ concept: each[0], start: match.index, end: match.index + match[0].length });
      }
    });
    return found.filter(function (each) {
      return !found.some(function (other) {
        return (index.contain[other.concept] || []).includes(each.concept)
          && other.start <= each.start && each.end <= other.end;
      });
    }).sort(function (a, b) { return a.start - b.start || (a.concept < b.concept ? -1 : a.concept > b.concept ? 1 : 0); });
  }

  function apart(a, b) {
    return a.end <= b.start || b.end <= a.start;
  }

  function span(chosen) {
    return Math.max.apply(null, chosen.map(function (one) { return one.end; }))
      - Math.min.apply(null, chosen.map(function (one) { return one.start; }));
  }

  function closest(wanted, found) {
    let best = null;
    found.filter(function (one) { return wanted[0].includes(one.concept); }).forEach(function (anchor) {
      const chosen = [anchor];
      const isWhole = wanted.slice(1).every(function (names) {
        let next = null;
        found.forEach(function (one) {
          if (!names.includes(one.concept) || !chosen.every(function (other) { return apart(one, other); })) return;
          if (!next || Math.abs(one.start - anchor.start) < Math.abs(next.start - anchor.start)) next = one;
        });
        if (next) chosen.push(next);
        return next !== null;
      });
      if (isWhole && (!best || span(chosen) < span(best))) best = chosen;
    });
    return best;
  }

  function ranked(index, ready, question) {
    const numbers = index.numbers, frame = ready.frame;
    const text = plain(question);
    const found = mentions(index, ready, text);
    const concepts = new Set(found.map(function (one) { return one.concept; }));
    const has = function (name) { return concepts.has(name); };
    const weight = function (name) { return index.weights[name] || 1; };
    const isInField = index.field.some(has);
    if (has("tensorflow") || (has("outside") && !isInField)) return null;

    function fit(phrases) {
      let best = [0, 0];
      phrases.forEach(function (phrase) {
        if (phrase.unwanted.some(has)) return;
        const chosen = closest(phrase.wanted, found);
        if (!chosen || (phrase.isAlone && span(chosen) < text.length)) return;
        const sum = chosen.reduce(function (total, one) { return total + weight(one.concept); }, 0)
          * (1 + numbers.each * (chosen.length - 1));
        const begin = Math.min.apply(null, chosen.map(function (one) { return one.start; })) - numbers.near;
        const end = Math.max.apply(null, chosen.map(function (one) { return one.end; })) + numbers.near;
        const known = new Set(chosen.map(function (one) { return one.concept; }));
        const byPlace = {};
        found.forEach(function (one) {
          if (one.start < begin || one.end > end || known.has(one.concept) || frame.has(one.concept)) return;
          if (!chosen.every(function (other) { return apart(one, other); })) return;
          const before = byPlace[one.start];
          if (!before || weight(one.concept) > before[1]) byPlace[one.start] = [one.concept, weight(one.concept)];
        });
        const unexplained = Array.from(new Map(Object.values(byPlace)).values())
          .reduce(function (total, one) { return total + one; }, 0);
        const share = sum / (sum + unexplained);
        const reach = end - begin - 2 * numbers.near;
        const nearness = 1 - 0.5 * Math.min(Math.max(reach - numbers.near, 0) / numbers.far, 1);
        const score = [sum * nearness * (0.4 + 0.6 * share), share * nearness];
        if (score[0] > best[0] || (score[0] === best[0] && score[1] > best[1])) best = score;
      });
      return best;
    }

    const scores = index.symptoms.map(function (each) { return fit(each.phrases); });
    const numbered = index.symptoms.map(function (_, at) { return at; });
    const complete = numbered.filter(function (at) { return scores[at][0] > 0; })
      .sort(function (a, b) { return scores[b][0] - scores[a][0] || a - b; });
    if (complete.length && !has("outside") && scores[complete[0]][1] >= numbers.sure) {
      const least = numbers.beside * scores[complete[0]][0];
      const beside = complete.filter(function (at) { return scores[at][0] >= least; }).slice(0, numbers.most);
      return { numbers: beside, isSure: true };
    }
    const codes = named(index, text, isInField && !has("outside"));
    if (codes.length) return { numbers: [], names: codes, isSure: true };
    const saysMore = Array.from(concepts).some(function (name) { return !frame.has(name); });
    if (!isInField && !complete.length && !(saysMore && !index.elsewhere.some(has))) return null;
    const byWords = wordScores(index, ready, text);
    const most = Math.max.apply(null, byWords);
    const parts = index.symptoms.map(function (each, at) {
      let share = 0;
      each.phrases.forEach(function (phrase) {
        if (phrase.isAlone || phrase.unwanted.some(has)) return;
        let all = 0, there = 0;
        phrase.wanted.forEach(function (names) {
          const part = Math.max.apply(null, names.map(weight));
          all += part;
          if (names.some(function (name) { return has(name) && !frame.has(name); })) there += part;
        });
        share = Math.max(share, there / all);
      });
      return 0.7 * share + 0.3 * (most ? byWords[at] / most : 0);
    });
    const whole = function (at) { return parts[at] + (scores[at][0] ? 1 : 0); };
    const ordered = numbered.slice().sort(function (a, b) { return whole(b) - whole(a) || a - b; });
    const fitting = ordered.filter(function (at) { return parts[at] >= numbers.close || scores[at][0]; });
    const close = (fitting.length ? fitting : ordered.filter(function (at) { return parts[at] > 0; }))
      .slice(0, numbers.most);
    return close.length ? { numbers: close, isSure: false } : null;
  }

  function stems(text) {
    return new Set((text.match(/[a-z_]{3,}/g) || []).map(function (word) {
      return word.length > 4 ? word.replace(/(?:ings?|ed|es|s|ly)$/, "") : word;
    }));
  }

  // The rules all of whose names' words stand in a short question about data loading.
  function named(index, text, isInField) {
    if (!isInField || text.split(" ").length > index.numbers.longest) return [];
    const words = stems(text);
    const there = index.names.filter(function (one) {
      return one.words.every(function (word) { return words.has(word); });
    });
    const most = Math.max.apply(null, there.map(function (one) { return one.words.length; }));
    return there.filter(function (one) { return one.words.length === most; });
  }

  function wordScores(index, ready, text) {
    const words = stems(text);
    const count = index.symptoms.length;
    const average = ready.symptoms.reduce(function (sum, one) { return sum + one.total; }, 0) / count;
    const scores = index.symptoms.map(function () { return 0; });
    words.forEach(function (word) {
      const having = scores.map(function (_, at) { return at; })
        .filter(function (at) { return Object.hasOwn(index.symptoms[at].words, word); });
      const rarity = Math.log(1 + (count - having.length + 0.5) / (having.length + 0.5));
      having.forEach(function (at) {
        const times = index.symptoms[at].words[word], length = ready.symptoms[at].total / average;
        scores[at] += rarity * times * 2.2 / (times + 1.2 * (0.4 + 0.6 * length));
      });
    });
    return scores;
  }

  function linesOf(text) {
    const shown = text.slice(-20000).replace(/\x1b\[[0-9;]*[A-Za-z]/g, "");
    const several = (shown.includes("\\n  File ") ? shown.replace(/\\n/g, "\n") : shown).split(/\r\n|\r|\n/);
    const strip = function (line) { return line.replace(/^[ \t\u2502|]+|[ \t\u2502|]+$/g, ""); };
    const hasNumbers = several.some(function (line) { return ARROW.test(strip(line)); });
    const found = [];
    let isCode = false;
    several.forEach(function (line) {
      let part = strip(line.slice(0, 1000)).replace(/^[> ]+/, "");
      if (/^\d+\s+/.test(part)) {
        if (hasNumbers) return;
        part = part.replace(/^\d+\s+/, "");
      }
      if (!part || FRAME_LINE.test(part)) {
        isCode = part !== "";
        return;
      }
      isCode = isCode && line.startsWith("    ");
      if (!isCode || part.includes("Error")) found.push(part);
    });
    return found;
  }

  function message(text) {
    let rest = text.trim().replace(EXCEPTION, "");
    if (!rest.includes("object has no attribute")) {
      rest = rest.replace(/(?<!\w)'[^']*'|"[^"]*"|<[^>]{0,200}>/g, "...");
    }
    return bare(rest).toLowerCase();
  }

  function isListed(wanted, listed) {
    if (listed.split(" ").length < 3) return false;
    if (listed.includes(wanted)) return true;
    const parts = listed.split("...").map(function (part) { return part.trim(); });
    if (!parts.some(function (part) { return part.length > 8; })) return false;
    let place = 0;
    return parts.every(function (part) {
      place = wanted.indexOf(part, place);
      if (place < 0) return false;
      place += part.length;
      return true;
    });
  }

  function answer(index, text) {
    const ready = prepared(index);
    const asked = bare(text.slice(0, 1000)).toLowerCase();
    const titled = index.symptoms.findIndex(function (each) { return bare(each.title).toLowerCase() === asked; });
    if (titled >= 0) return result(index, { numbers: [titled], isSure: true });
    const whole = bare(text.slice(-20000));
    const lines = linesOf(text);
    const several = lines.map(bare);
    const isRaised = lines.some(function (line) { return RAISED.test(line); });
    const seen = index.symptoms.findIndex(function (each, at) {
      const one = ready.symptoms[at];
      if (isRaised && each.isWarning) return false;
      const isThere = one.messages.some(function (pattern) {
        return several.some(function (line) { return pattern.test(line); });
      }) || one.traced.some(function (pair) {
        return pair[1].test(whole) && several.concat("").some(function (line) { return pair[0].test(line); });
      });
      return isThere && !one.unless.some(function (pattern) { return pattern.test(whole); });
    });
    if (seen >= 0) return result(index, { numbers: [seen], isSure: true });
    for (const line of lines.slice().reverse()) {
      const wanted = message(line);
      if ((isRaised && /Warning\b/.test(line)) || wanted.split(" ").length < 3) continue;
      const listed = index.listed.filter(function (each) { return isListed(wanted, message(each.text)); });
      if (listed.length) {
        return { titles: [], listed: listed.map(function (each) { return each.text; }), names: [], isSure: true };
      }
    }
    if (isRaised) return null;
    const prose = lines.filter(function (line) { return !/^KeyboardInterrupt\b/.test(line); }).join(" ").slice(0, 1500);
    const found = ranked(index, ready, prose);
    return found && result(index, found);
  }

  function result(index, found) {
    return {
      titles: found.numbers.map(function (at) { return index.symptoms[at].title; }),
      listed: [],
      names: found.names || [],
      isSure: found.isSure,
    };
  }

  if (typeof module === "object") module.exports = { answer: answer };
  else root.dataloaderLintAnswer = answer;
})(this);

// CSS through shadow roots: what a root holds counts as the inside of its host, for `a b`, `a > b` and `:has(b)`.
// The browser's own search ends at each root. It is asked for all parts that no root can come between.

// The index behind an escape, a string, a bracket with what it holds, or one character.
const CLOSING = { __proto__: null, '(': ')', '[': ']' };
const behind = (source, at) => {
  const open = source[at];
  const piece = /^(?:\\(?:[0-9a-f]{1,6}\s?|[^])|"(?:\\[^]|[^"\\])*"?|'(?:\\[^]|[^'\\])*'?)/i.exec(source.slice(at));
  if (piece) return at + piece[0].length;
  const close = CLOSING[open];
  at++;
  if (!close) return at;
  while (at < source.length && source[at] !== close) at = behind(source, at);
  return at + 1;
};

// A list of selectors that the browser has found valid. Each is its parts, from left to right: {css, tests, combinator},
// with what the browser answers by itself, what it does not, and how the part stands to the one before.
const parseCss = source => {
  const list = [];
  let parts = [];
  let part = { css: '', tests: [], combinator: '' };
  const end = () => {
    if (part.css || part.tests.length) parts.push({ ...part, css: part.css || '*' });
    part = { css: '', tests: [], combinator: '' };
  };
  source = source.trim();
  for (let at = 0; at < source.length;) {
    const rest = source.slice(at);
    const between = /^\s*([>+~,]|\s)\s*/.exec(rest);
    if (between) {
      end();
      if (between[1] === ',') list.push(parts.splice(0));
      else part.combinator = between[1].trim() || ' ';
      at += between[0].length;
      continue;
    }
    const call = /^:(?:(is|where|not|has)\(|scope(?![\w-]))/i.exec(rest);
    const next = call && call[1] ? behind(source, at + call[0].length - 1) : call ? at + call[0].length : behind(source, at);
    const test = call && (call[1] ? testOf(call[1].toLowerCase(), source.slice(at + call[0].length, next - 1)) : isScope);
    if (test) part.tests.push(test);
    else part.css += source.slice(at, next);
    at = next;
  }
  end();
  list.push(parts);
  return list.filter(parts => parts.length);
};

const isScope = (element, scope) => element === (scope === document ? document.documentElement : scope);

// Null where no root can make a difference.
const testOf = (name, inner) => {
  if (name === 'has') {
    const beside = /^\s*[+~]/.test(inner);
    return element => (beside ? isMatch(element, `:has(${inner})`) : queryCss(element, inner, true).length > 0);
  }
  const list = parseCss(inner);
  if (!crosses(list)) return null;
  return (element, scope) => matchesList(element, list, scope) !== (name === 'not');
};

const crosses = list => list.some(parts => parts.length > 1 || parts.some(part => part.tests.length));

const hostOrParent = element => element.parentElement || (element.parentNode && element.parentNode.host) || null;

const matchesPart = (element, part, scope) => isMatch(element, part.css) && part.tests.every(test => test(element, scope));

// Whether what stands before the part at `at`, which `element` is, is there as well.
const hasBefore = (element, parts, at, scope) => {
  if (at === 0) return true;
  const { combinator } = parts[at];
  const before = combinator === '+' || combinator === '~' ? other => other.previousElementSibling : hostOrParent;
  for (let node = before(element); node; node = before(node)) {
    if (matchesPart(node, parts[at - 1], scope)) {
      if (hasBefore(node, parts, at - 1, scope)) return true;
      // The nearest has the most before it.
      if (parts[at - 1].combinator === combinator) return false;
    }
    if (combinator === '>' || combinator === '+') return false;
  }
  return false;
};

const matchesList = (element, list, scope) => list.some(parts =>
  matchesPart(element, parts.at(-1), scope) && hasBefore(element, parts, parts.length - 1, scope));

// Selectors are asked with for as long as a wait goes on.
const parsedCss = new Map();
const parsed = source => {
  let list = parsedCss.get(source);
  if (!list) {
    if (parsedCss.size > 100) parsedCss.clear();
    parsedCss.set(source, list = parseCss(source));
  }
  return list;
};

// All matches below `root`, through shadow roots. `> b` is one in `root`; `:scope` is `root`, and can be what is looked for.
const queryCss = (root, source, below = false) => {
  const selector = below || /^\s*[>+~]/.test(source) ? scoped(source) : source;
  const search = scope => [...scope.querySelectorAll(selector)];
  const own = search(root);
  const scopes = scopesOf(root);
  // What only the browser's own search knows.
  if (/:host|::|\/\*/i.test(selector)) return scopes.flatMap(search);
  const list = parsed(selector);
  // Where the scope itself, or what stands beside it, is looked for.
  const around = root !== document && list.some(parts => parts.some((part, at) =>
    part.tests.includes(isScope) && (at === parts.length - 1 || /[+~]/.test(parts[at + 1].combinator)))) && root.parentNode;
  const alone = root.getRootNode() === document;
  if (scopes.length === 1 && alone && !around) return own;
  if (!crosses(list)) return scopes.flatMap(search);
  const last = list.map(parts => parts.at(-1).css).join(', ');
  const tested = list.some(parts => parts.some(part => part.tests.length));
  return (around ? scopesOf(around) : scopes).flatMap(scope => scope === root && alone && !tested
    ? own : [...scope.querySelectorAll(last)].filter(element => matchesList(element, list, root)));
};

// Each selector of a list begins at the scope.
const scoped = source => {
  let begun = ':scope ';
  for (let at = 0; at < source.length;) {
    const next = behind(source, at);
    begun += source[at] === ',' ? ', :scope ' : source.slice(at, next);
    at = next;
  }
  return begun;
};

// What a script has answered, as JSON can carry it: `[value]`, or a text that says what it can't. A date is its text, a map an
// object, a set a list, as people write them; what JSON would make null or nothing of is refused. With `waits`, what
// counts as false is false.
(answer, waits) => {
  const path = ['it'];
  const above = [];
  const refusal = {};
  let why;
  const no = what => {
    why = `${path.join('.')} is ${what}, which JSON can't carry`;
    throw refusal;
  };
  const at = (name, inner) => {
    path.push(name);
    const made = of(inner);
    path.pop();
    return made;
  };
  const list = values => Array.from(values, (inner, n) => at(n, inner) ?? null);
  const object = pairs => Object.fromEntries(pairs.map(([name, inner]) => [name, at(String(name), inner)]).filter(([, made]) => made !== undefined));
  const whole = value => {
    const kind = Object.prototype.toString.call(value).slice(8, -1);
    if (Array.isArray(value) || ['Set', 'NodeList', 'HTMLCollection'].includes(kind)) return list(value);
    if (ArrayBuffer.isView(value) && kind !== 'DataView') return list(value);
    if (kind === 'Map') return object([...value]);
    if (kind === 'Error' || kind === 'RegExp') return String(value);
    if (kind === 'Promise') return no('a promise that nobody awaits');
    return typeof value.toJSON === 'function' ? of(value.toJSON()) : object(Object.entries(value));
  };
  const of = value => {
    if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : no(String(value));
    if (typeof value === 'bigint') return no(`${value}n`);
    if (typeof value === 'function' || typeof value === 'symbol') return undefined;
    if (typeof value !== 'object' || value === null) return value;
    if (value instanceof Node) return `<${value.nodeName.toLowerCase()}>`;
    if (value === window) return '<window>';
    if (above.includes(value)) return no('what it stands in');
    above.push(value);
    const made = whole(value);
    above.pop();
    return made;
  };
  const finish = value => {
    try {
      return [waits && !value ? false : of(value) ?? null];
    } catch (error) {
      if (error === refusal) return why;
      throw error;
    }
  };
  return typeof answer?.then === 'function' ? (async () => finish(await answer))() : finish(answer);
}

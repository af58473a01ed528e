// Everything that differs from run to run, logged before and after a question. The engine has no files and no sleep of its
// own: what it has stands in `globals`.
import { write } from 'windlass:plugin/log@0.1.0';
import { isCancelled, setStatusMessage, sleep } from 'windlass:plugin/task@0.1.0';
import { ask } from 'windlass:plugin/input@0.1.0';
import { get, keys, set } from 'windlass:plugin/state@0.1.0';
import { seeded } from './random.js';

// Nobody keeps it from one turn to the next: each begins with what the build left.
let turns = 0;

// `performance.now()` counts from when the component was built, so it may be negative: only differences mean something.
function look(start, number) {
  const order = Object.keys({ pear: 1, fig: 2, apple: 3, 2: 4, 1: 5 });
  const seen = [
    `wall ${Date.now()} ms, ${new Date().toISOString()}`,
    `offset ${new Date().getTimezoneOffset()} min`,
    `monotonic ${performance.now() - start} ms`,
    `random ${Math.random()} ${Math.random()}`,
    `order ${order.join()}, ${[...new Set(['b', 'a', 'c'])].join()}`,
    `globals ${Object.keys(globalThis).join()}`,
    `environment ${typeof process === 'undefined' ? 'none' : JSON.stringify(process.env)}`,
    `fraction ${0 / 0} ${Math.sin(1e300)} ${Math.exp(0.1)} ${[3, 1, 2].toSorted?.() ?? ''}`,
    `turn ${number}, this instance's ${turns}, cancelled ${isCancelled()}`,
  ];
  for (const line of seen) {
    write('info', line, [['length', String(line.length)]]);
  }
  return seen;
}

export const tool = {
  run(turn) {
    turns += 1;
    Math.random = seeded(turn.seed);
    const start = performance.now();
    const before = look(start, turn.number);
    set('count', JSON.stringify(Number(get('count') ?? '0') + 1));
    sleep(500);
    setStatusMessage(`slept, ${Date.now()}`);
    const schema = JSON.stringify({ type: 'object', properties: { go: { type: 'boolean' } }, required: ['go'] });
    const question = { key: 'go-on', message: 'Go on?', schema, peopleOnly: false, timeout: null };
    const [answer] = ask([question]);
    // Long enough that the clock has to jump by a sample, in the middle of a loop that reads it.
    for (const end = performance.now() + 250; performance.now() < end; );
    const after = look(start, turn.number);
    const structured = JSON.stringify({ before, after, answer, count: get('count'), keys: keys('') });
    return { content: [], structured, question: null };
  },
};

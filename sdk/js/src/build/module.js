// A bundle as something that runs: in a realm of its own here, or as the module of a component.
import vm from 'node:vm';
import { NAME } from './bundle.js';

/** What a bundle answers where the host is `host`: its manifest, and the realm that it runs in. `before` runs first there. */
export function evaluate({ code, sources }, host, globals = {}, before = '') {
    const context = vm.createContext({ ...globals, __windlass: { ...host, sources } });
    vm.runInContext(before, context);
    vm.runInContext(code, context, { filename: NAME });
    return { context, manifest: vm.runInContext('windlassPlugin.default.manifest', context) };
}

const VERSION = '0.1.0';
const ALWAYS = ['log', 'task', 'input', 'state', 'artifacts'];
/** The interfaces that a permission is about: one of them has to be imported, and none without a permission. */
const ABOUT = { 'browser': 'browser', 'browser-state': 'browser', 'http': 'http', 'reveal': 'secrets' };

/** The interfaces of the contract that a plugin with these permissions imports. */
export function interfaces(permissions) {
    const words = permissions.map((line) => line.split(' ')[0]);
    const asked = new Set(words.map((word) => ABOUT[word]));
    if (words.includes('secret') && !asked.has('browser')) asked.add('http');
    return [...ALWAYS, ...['browser', 'http', 'secrets'].filter((name) => asked.has(name))];
}

const imported = (name) => `windlass:plugin/${name}@${VERSION}`;

/** Their world, in WIT. */
export function world(permissions) {
    const imports = interfaces(permissions).map((name) => `  import ${imported(name)};\n`);
    return `package windlass:js;\n\nworld plugin {\n${imports.join('')}  export ${imported('tool')};\n}\n`;
}

/** Sizes of what is taken and given back at the end of the build, so that nothing of the compiling is left in memory: what
 *  is there makes the component larger. The large ones first. */
const SCRUB = '[[65536,4],[4096,40],[1024,200]]';

const imports = (names) => names.map((name) => `import * as ${name} from '${imported(name)}';`).join(' ');

/** Stands at the begin of a room: bytes of a component into which something is put when it is built. The text is written
 *  so that it is nowhere else. */
const MAGIC = Array.from('windlass:room\n', (letter) => letter.charCodeAt(0));
/** A room of so many bytes, and `read`, which answers what is in it. */
const room = (size) => `
const room = new Uint8Array(${MAGIC.length + size}).fill(32);
room.set([${MAGIC}]);
const read = () => {
    let text = '';
    for (let at = ${MAGIC.length}; at < room.length; at += 4096) text += String.fromCharCode.apply(undefined, room.subarray(at, at + 4096));
    return text.trimEnd();
};
`;
const ascii = (text) => text.replace(/[\u0080-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
const json = (sources, before) => ascii(JSON.stringify({ ...sources, before }));

/** Puts a text into the room of a component. */
function furnished(component, text, size) {
    const start = component.indexOf(Buffer.from(MAGIC));
    if (start < 0 || text.length > size) throw new Error('the component has no room for what goes into it');
    const whole = Buffer.from(component);
    whole.write(text, start + MAGIC.length, 'latin1');
    return whole;
}

/**
 * The module of the component, and what is done to the component that is made of it. The map of the sources is put in
 * afterwards: of what stands in the module, memory has several copies.
 */
export function whole({ code, sources }, permissions) {
    const names = interfaces(permissions);
    const map = json(sources, 1);
    const given = `const __windlass = { ${names.join(', ')}, sources: () => JSON.parse(read()) };`;
    const scrub = `for (const [size, count] of ${SCRUB}) for (let n = 0, all = []; n < count; n++) all.push(new ArrayBuffer(size));`;
    const source = `${imports(names)} ${given}\n${code}\nexport const tool = windlassPlugin.default.tool;\n${room(map.length)}\n${scrub}\n`;
    return { source, finish: (component) => furnished(component, map, map.length) };
}

/** The same for a component that has the whole bundle in a room of so many bytes, and reads it when a turn begins: its
 *  module is the same for all bundles that fit. */
export function quick({ code, sources }, permissions, size) {
    const names = interfaces(permissions);
    const text = `__windlass.sources = ${json(sources, 1)};\n${code}\nwindlassPlugin`;
    const source = `${imports(names)}
${room(size)}
export const tool = {
    run(turn) {
        globalThis.__windlass = { ${names.join(', ')} };
        return (0, eval)(read()).default.tool.run(turn);
    },
};
`;
    return { source, finish: (component) => furnished(component, text, size), fits: text.length <= size };
}

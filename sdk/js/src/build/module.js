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

/** The module of the component. */
export function source({ code, sources }, permissions) {
    const names = interfaces(permissions);
    const given = `const __windlass = { ${names.join(', ')}, sources: ${JSON.stringify({ ...sources, before: 1 })} };`;
    const scrub = `for (const [size, count] of ${SCRUB}) for (let n = 0, all = []; n < count; n++) all.push(new ArrayBuffer(size));`;
    return `${imports(names)} ${given}\n${code}\nexport const tool = windlassPlugin.default.tool;\n${scrub}\n`;
}

/** Stands at the begin of a room. Written so that it is nowhere else in a component. */
const MAGIC = Array.from('windlass:room\n', (letter) => letter.charCodeAt(0));

/** The module of a component with a room of so many bytes, in which a bundle is put later: it is read when a turn begins. */
export function room(size, permissions) {
    const names = interfaces(permissions);
    return `${imports(names)}
        const __windlassRoom = new Uint8Array(${size}).fill(32);
        __windlassRoom.set([${MAGIC}]);
        export const tool = {
            run(turn) {
                let text = '';
                for (let at = ${MAGIC.length}; at < ${size}; at += 4096) text += String.fromCharCode.apply(undefined, __windlassRoom.subarray(at, at + 4096));
                globalThis.__windlass = { ${names.join(', ')} };
                return (0, eval)(text.trimEnd()).default.tool.run(turn);
            },
        };`;
}

/** What goes into a room. */
export function furniture({ code, sources }) {
    const ascii = (text) => text.replace(/[\u0080-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
    return Buffer.from(`__windlass.sources = ${ascii(JSON.stringify({ ...sources, before: 1 }))};\n${code}\nwindlassPlugin`);
}

/** A component with a bundle in its room; undefined where it does not fit. */
export function furnished(component, made, size) {
    const [start, text] = [component.indexOf(Buffer.from(MAGIC)), furniture(made)];
    if (start < 0 || MAGIC.length + text.length > size) return undefined;
    const whole = Buffer.from(component);
    text.copy(whole, start + MAGIC.length);
    return whole;
}

// What a plugin has without an import. Made of windlass.d.ts by `node types/make.mjs`.
/** Goes to the log: `log` and `info` as info, the others as their names say. */
declare const console: Record<'log' | 'info' | 'debug' | 'trace' | 'warn' | 'error', (...values: any[]) => void> & {
    assert(holds: any, ...values: any[]): void;
};
declare function setTimeout(run: (...values: any[]) => void, time?: number, ...values: any[]): number;
declare function setInterval(run: (...values: any[]) => void, time?: number, ...values: any[]): number;
declare function clearTimeout(id: number | undefined): void;
declare function clearInterval(id: number | undefined): void;

declare class TextEncoder {
    encode(text?: string): Uint8Array;
}
declare class TextDecoder {
    decode(bytes?: Uint8Array | ArrayBuffer): string;
}
declare function queueMicrotask(run: () => void): void;
declare const performance: { now(): number };

// What a plugin imports.
export * from './names.js';
import type * as names from './names.js';

/** A JSON Schema (2020-12). */
export type Schema = { readonly [keyword: string]: any };

type Simple = { string: string; number: number; integer: number; boolean: boolean; null: null };
type Flat<T> = { [K in keyof T]: T[K] };
type Known<S> = S extends { required: readonly (infer R)[] } ? R : never;
/** Fields that are always there: those that are required, and those with a default. */
type Always<P, S> = { [K in keyof P]: K extends Known<S> ? K : P[K] extends { default: any } ? K : never }[keyof P];
type Fields<P, S> = Flat<
    { -readonly [K in Always<P, S>]: From<P[K]> } & { -readonly [K in Exclude<keyof P, Always<P, S>>]?: From<P[K]> }
>;

/** The values that a schema takes, as far as TypeScript can tell. */
export type From<S> = S extends { const: infer C }
    ? C
    : S extends { enum: readonly (infer E)[] }
      ? E
      : S extends { type: readonly (infer T)[] }
        ? T extends string
            ? From<Omit<S, 'type'> & { type: T }>
            : never
        : S extends { type: infer T extends keyof Simple }
          ? Simple[T]
          : S extends { type: 'array'; items: infer I }
            ? From<I>[]
            : S extends { type: 'object'; properties: infer P }
              ? Fields<P, S>
              : any;

/** What a tool's function gets beside its input: the names that it could also import. */
export type Names = typeof names;

export interface ToolOptions<S extends Schema> {
    /** `[a-z][a-z0-9_-]{0,63}`, unique in the host; `task_*` is reserved. */
    name: string;
    /** What people see instead of the name. */
    title?: string;
    description?: string;
    /** Of an object. A field's `default` is there where the caller gave nothing. */
    input?: S;
    /** Of the structured outcome. */
    output?: Schema;
    /** `browser ORIGIN`, `browser *`, `browser-state ORIGIN`, `http ORIGIN`, `secret NAME`, `reveal NAME`. */
    permissions?: string[];
    /** Runs once for each turn; what it returns is the outcome, what it throws the failure. */
    run(input: From<S>, names: Names): unknown;
    /** Whether a client of MCP may, must or can't take the call as a task. */
    taskSupport?: 'optional' | 'required' | 'forbidden';
    /** A form that is asked before the task exists; its answer becomes part of the input. */
    askFirst?: { key: string; message: string; schema: Schema };
    /** Hints for clients of MCP. */
    readOnly?: boolean;
    destructive?: boolean;
    idempotent?: boolean;
    openWorld?: boolean;
}

export interface Tool {
    readonly name: string;
}
export interface PluginOptions {
    /** That of package.json, unless it is given. */
    name?: string;
    /** That of package.json, unless it is given. */
    version?: string;
    description?: string;
    permissions?: string[];
    tools: Tool[];
}
export interface Plugin {
    readonly tools: readonly Tool[];
}

/** A tool: a function with a JSON Schema for its input. */
export declare function tool<const S extends Schema = {}>(options: ToolOptions<S>): Tool;
/** A plugin: the main module exports it, `export default plugin({ … })`. */
export declare function plugin(options: PluginOptions): Plugin;

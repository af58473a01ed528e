// Source maps, version 3: from a place in the bundle to one in the author's source. Read when something goes wrong only.

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The numbers of one segment. */
function numbers(text) {
    const found = [];
    let value = 0;
    let shift = 0;
    for (const digit of text) {
        const bits = DIGITS.indexOf(digit);
        value += (bits & 31) << shift;
        shift += 5;
        if (bits & 32) continue;
        found.push(value & 1 ? -(value >> 1) : value >> 1);
        value = shift = 0;
    }
    return found;
}

/** Per line of the bundle `[column, source, line, column]`, all from 0; `[column]` where what follows has no source. */
export function decoded(mappings) {
    let source = 0;
    let line = 0;
    let column = 0;
    return mappings.split(';').map((segments) => {
        let at = 0;
        const places = [];
        for (const segment of segments.split(',')) {
            const [to, ...from] = numbers(segment);
            if (to === undefined) continue;
            at += to;
            if (from.length < 3) {
                places.push([at]);
                continue;
            }
            source += from[0];
            line += from[1];
            column += from[2];
            places.push([at, source, line, column]);
        }
        return places;
    });
}

export class SourceMap {
    #map;
    #lines;

    /**
     * @param map `{ sources, texts, mappings, before }`, or a function that answers it; `before` lines stand before
     *   the first of the map.
     */
    constructor(map) {
        this.#map = map;
    }

    /** Read when it is first asked for. */
    get #read() {
        if (typeof this.#map === 'function') this.#map = this.#map();
        return this.#map;
    }

    /** Where the author wrote what stands there, all from 1; undefined where it is not the author's. */
    place(line, column) {
        this.#lines ??= decoded(this.#read.mappings);
        const places = this.#lines[line - 1 - this.#read.before];
        const found = places?.findLast(([at]) => at <= column - 1);
        if (found?.[1] === undefined) return undefined;
        return { file: this.#map.sources[found[1]], text: this.#map.texts[found[1]], line: found[2] + 1, column: found[3] + 1 };
    }
}

// Arguments of host calls, checked as the contract's types want them.

/** An error of the host, or one that looks like it. */
export function hostError(code, message, details) {
    const error = new Error(message);
    error.code = code;
    if (details !== undefined) error.details = details;
    return error;
}

/** Fields by name: scripts send them in this order too, and so the records are the same. */
export const sorted = (object) => Object.entries(object ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));

function wrong(call, name, wanted, value) {
    const found = value == null ? 'nothing' : JSON.stringify(value).slice(0, 60);
    return hostError('invalid', `${call}: ${name} must be ${wanted}, not ${found}`);
}

/** Arguments are checked here: what is of another type than the contract's would end the turn as a trap. */
export const TYPES = {
    text(call, name, value) {
        if (typeof value !== 'string') throw wrong(call, name, 'text', value);
        return value;
    },
    whole(call, name, value) {
        if (typeof value !== 'number' || !(value >= 0 && value <= 9e15)) throw wrong(call, name, 'a number from 0', value);
        return Math.ceil(value);
    },
    /** Of a page, in CSS pixels. */
    side: (call, name, value) => Math.min(TYPES.whole(call, name, value), 0xffffffff),
    pixels(call, name, value) {
        if (typeof value !== 'number' || !(Math.abs(value) <= 0x7fffffff)) throw wrong(call, name, 'a number', value);
        return Math.round(value);
    },
    flag: (_call, _name, value) => value === true,
    json: (_call, _name, value) => JSON.stringify(value ?? null),
    texts(call, name, value) {
        if (!Array.isArray(value)) throw wrong(call, name, 'a list of texts', value);
        return value.map((one) => TYPES.text(call, name, one));
    },
    settings(call, _name, value) {
        // A list of texts is as many settings of one name.
        const pairs = sorted(value).flatMap(([name, given]) => [given].flat().map((text) => [name, text]));
        for (const [name, text] of pairs) TYPES.text(call, name, text);
        return pairs;
    },
};

/** The arguments of a call, by its list of `name:type`; `type` alone is its own name. */
export function checked(call, wanted, values) {
    return wanted.split(' ').filter(Boolean).map((argument, index) => {
        const [name, type = name] = argument.split(':');
        return TYPES[type](call, name, values[index]);
    });
}

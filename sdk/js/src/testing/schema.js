// The part of JSON Schema that inputs and forms are mostly made of. The host checks all of it.

const typeOf = (value) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

function fits(type, value) {
    if (type === 'integer') return Number.isInteger(value);
    return type === typeOf(value);
}

/** What is wrong with a value, or nothing. */
export function mistake(schema, value, at = '') {
    const name = at || 'it';
    if (schema === undefined || schema === true) return undefined;
    const types = [schema.type ?? []].flat();
    if (types.length > 0 && !types.some((type) => fits(type, value))) return `${name} must be ${types.join(' or ')}, not ${JSON.stringify(value)}`;
    if (schema.enum && !schema.enum.includes(value)) return `${name} must be one of ${JSON.stringify(schema.enum)}, not ${JSON.stringify(value)}`;
    if (typeof value === 'number' && (value < schema.minimum || value > schema.maximum)) return `${name} is out of bounds: ${value}`;
    if (typeOf(value) === 'array') {
        return value.map((one, index) => mistake(schema.items, one, `${at}[${index}]`)).find(Boolean);
    }
    if (typeOf(value) !== 'object') return undefined;
    const fields = schema.properties ?? {};
    const path = (field) => (at ? `${at}.${field}` : field);
    const missing = (schema.required ?? []).find((field) => value[field] === undefined);
    if (missing !== undefined) return `${path(missing)} is missing`;
    const unknown = schema.additionalProperties === false && Object.keys(value).find((field) => !(field in fields));
    if (unknown) return `${path(unknown)} is not known`;
    return Object.entries(value).map(([field, one]) => mistake(fields[field], one, path(field))).find(Boolean);
}

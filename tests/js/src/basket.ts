interface Item {
    readonly name: string;
}

/** Private fields, accessors, and a failure below an await. */
export class Basket {
    #items: Item[] = [];

    async put(name: string): Promise<void> {
        await null;
        this.#items.push({ name: name.trim() });
    }

    get shown(): string {
        return this.#items.map(({ name }) => name).join();
    }
}

export async function lateFailure(): Promise<never> {
    await null;
    throw new RangeError('too late');
}

// What TypeScript makes of a schema. Compiled, never run.
import { browser, log, plugin, tool } from 'windlass';
import { plugin as tested, refuse } from 'windlass/testing';

const buy = tool({
    name: 'buy',
    input: {
        type: 'object',
        properties: {
            item: { type: 'string' },
            count: { type: 'integer', default: 1 },
            colour: { enum: ['red', 'blue'] },
            tags: { type: 'array', items: { type: 'string' } },
            note: { type: ['string', 'null'] },
            to: { type: 'object', properties: { street: { type: 'string' } }, required: ['street'] },
        },
        required: ['item', 'to'],
    },
    async run(input, { task, ask }) {
        const item: string = input.item;
        const count: number = input.count;
        const colour: 'red' | 'blue' | undefined = input.colour;
        const tags: string[] | undefined = input.tags;
        const note: string | null | undefined = input.note;
        const street: string = input.to.street;
        // @ts-expect-error it may be missing
        input.note.length;
        // @ts-expect-error no field of the schema
        input.price;
        const answer = await ask({ message: `${count} ${item}, ${colour}, ${tags}, ${note}?` });
        log.info(task.id, { street, answer: answer.action });
        return browser.withPage(async (page) => page.getByRole('button', { name: /buy/i }).click());
    },
});

// @ts-expect-error a tool has a function
tool({ name: 'nothing' });

export default plugin({ description: 'Buys.', permissions: ['browser *'], tools: [buy, tool({ name: 'free', run: (input) => input.anything })] });

const made = await tested('src/index.js');
const run = made.run('buy', { item: 'mug' }, { answers: { size: { size: 'large' } }, pages: { 'https://a.example/': { elements: { '#a': 'text', '#b': { click: refuse('interrupted') } } } } });
run.log.at(0)?.fields;
run.continue('again').outcome?.structured;

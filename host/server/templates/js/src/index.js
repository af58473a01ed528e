// A plugin of Windlass: one tool, which asks a question and works for a moment.
import { ask, fail, log, plugin, progress, sleep, tool } from 'windlass';

/** What is asked: a flat form. */
const wording = {
    type: 'object',
    properties: { word: { type: 'string', description: 'What to say.', default: 'Hello' } },
    required: ['word'],
};

export default plugin({
    description: 'Greets people.',
    // What it may reach: 'browser https://shop.example', 'http https://api.example', 'secret shop-token'.
    permissions: [],
    tools: [
        tool({
            name: '{{name}}',
            description: 'Greets somebody, after asking how.',
            input: {
                type: 'object',
                properties: {
                    name: { type: 'string', description: 'Who is greeted.' },
                    times: { type: 'integer', description: 'How often.', minimum: 1, maximum: 10, default: 3 },
                },
                required: ['name'],
            },
            async run({ name, times }) {
                const answer = await ask({ key: 'wording', message: `How shall ${name} be greeted?`, schema: wording });
                if (!answer.accepted) fail('declined', 'Nobody said how.');
                for (let time = 1; time <= times; time++) {
                    log.info(`${answer.value.word}, ${name}!`, { time });
                    progress(time, times, 'greetings');
                    await sleep(200);
                }
                return `Greeted ${name} ${times} times.`;
            },
        }),
    ],
});

// A plugin of Windlass: what its tools are called, what they take, and what they do.
import { confirm, log, plugin, sleep, tool } from 'windlass';

export default plugin({
    description: 'Greets people, after asking.',
    // What it asks for: 'browser https://shop.example', 'http https://api.example', 'secret shop-token'.
    permissions: [],
    tools: [
        tool({
            name: '{{name}}',
            description: 'Greets somebody.',
            input: {
                type: 'object',
                properties: {
                    name: { type: 'string', description: 'Who is greeted.' },
                    times: { type: 'integer', minimum: 1, maximum: 10, default: 1 },
                },
                required: ['name'],
            },
            async run({ name, times }) {
                if (!(await confirm(`Greet ${name}?`, { key: 'greet' }))) return 'Nobody was greeted.';
                for (let time = 1; time <= times; time++) {
                    log.info(`Hello, ${name}!`, { time });
                    await sleep(500);
                }
                return { greeted: name, times };
            },
        }),
    ],
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plugin } from 'windlass/testing';

const made = await plugin();

test('greets who was agreed to', () => {
    const run = made.run('{{name}}', { name: 'Ada', times: 2 }, { answers: { greet: { confirm: true } } });
    assert.deepEqual(run.outcome.structured, { greeted: 'Ada', times: 2 });
    assert.deepEqual(run.log.map(({ text }) => text), ['Hello, Ada!', 'Hello, Ada!']);
    assert.equal(run.questions[0].message, 'Greet Ada?');
});

test('greets nobody without a yes', () => {
    const run = made.run('{{name}}', { name: 'Ada' }, { answers: { greet: 'declined' } });
    assert.equal(run.outcome.text, 'Nobody was greeted.');
    assert.deepEqual(run.log, []);
});

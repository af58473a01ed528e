// `npm test`: the tool with answers that are made up, and no host.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plugin } from 'windlass/testing';

const made = await plugin();

test('somebody is greeted as they wish', () => {
    const run = made.run('{{name}}', { name: 'Ada', times: 2 }, { answers: { wording: { word: 'Ahoy' } } });
    assert.equal(run.outcome.text, 'Greeted Ada 2 times.');
    assert.deepEqual(run.log.map(({ text }) => text), ['Ahoy, Ada!', 'Ahoy, Ada!']);
    assert.equal(run.questions[0].message, 'How shall Ada be greeted?');
});

test('nobody is greeted where the question is declined', () => {
    const run = made.run('{{name}}', { name: 'Ada' }, { answers: { wording: 'declined' } });
    assert.equal(run.failure.code, 'declined');
    assert.deepEqual(run.log, []);
});

import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { exitOnUncaught } from '../../src/app/process.ts';
import { createLog } from '../../src/app/telemetry/log.ts';

test('logs an uncaught error without its text and exits', () => {
  const lines: string[] = [];
  const codes: number[] = [];
  const emitter = new EventEmitter();
  const log = createLog({ level: 'info', write: (line) => lines.push(line), secrets: [] });
  exitOnUncaught(log, {
    once: (event, end) => emitter.once(event, end),
    exit: (code) => codes.push(code),
  });
  emitter.emit('uncaughtException', Object.assign(new TypeError('a secret'), { requestBody: 'a secret' }));
  expect(codes).toEqual([1]);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ err: { name: 'TypeError' } }]);
  expect(lines.join('')).not.toContain('a secret');
});

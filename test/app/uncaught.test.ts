import { createSocket } from 'node:dgram';
import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { exitOnUncaught } from '../../src/app/process.ts';
import { createLog } from '../../src/app/telemetry/log.ts';
import { isSentOnClosedSocket } from '../../src/platforms/discord/voice/closed-socket.ts';

function watched() {
  const lines: string[] = [];
  const codes: number[] = [];
  const emitter = new EventEmitter();
  const log = createLog({ level: 'info', write: (line) => lines.push(line), secrets: [] });
  exitOnUncaught(log, {
    on: (event, end) => emitter.on(event, end),
    isHarmless: isSentOnClosedSocket,
    exit: (code) => codes.push(code),
  });
  return { lines, codes, throwUncaught: (error: unknown) => emitter.emit('uncaughtException', error) };
}

test('logs an uncaught error without its text and exits', () => {
  const { lines, codes, throwUncaught } = watched();
  throwUncaught(Object.assign(new TypeError('a secret'), { requestBody: 'a secret' }));
  expect(codes).toEqual([1]);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ err: { name: 'TypeError' } }]);
  expect(lines.join('')).not.toContain('a secret');
});

test('continues every time the voice library sends a keep-alive on a closed socket', () => {
  const { lines, codes, throwUncaught } = watched();
  const socket = createSocket('udp4');
  socket.close();
  for (const _ of [1, 2]) {
    try {
      socket.send(Buffer.alloc(8), 9, '127.0.0.1');
      expect.unreachable();
    } catch (error) {
      throwUncaught(error);
    }
  }
  expect(codes).toEqual([]);
  expect(lines).toHaveLength(2);
});

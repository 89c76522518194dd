import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type EmulatorContext, readBody } from '../context.ts';
import { checkBearer } from '../requests/auth.ts';
import { routeFamily } from '../requests/family.ts';
import { answerRefusal, RefusedRequest, reasonOfStatus } from '../requests/refusal.ts';
import type { Faults } from './faults.ts';

/** Makes the faults of whole requests happen, before a request is taken or after its answer is made. */
export function registerFaultInjection(server: FastifyInstance, context: EmulatorContext): void {
  // A request without an answer ends when the client or the emulator goes away.
  const never = (): Promise<never> => new Promise(() => {});

  server.addHook('preValidation', async (request, reply) => {
    for (const fault of context.faultsOf(request)) {
      switch (fault.kind) {
        case 'slow':
          await context.hold(fault.seconds);
          break;
        case 'status':
          if (fault.retryAfter !== null) reply.header('retry-after', fault.retryAfter);
          throw injected(fault.status, `status ${fault.status}`);
        case 'body-code':
          return reply.send({ code: fault.code, msg: `injected fault: code ${fault.code}`, data: null });
        case 'nonsense':
          return reply.type('text/html').send('<html><body><h1>It works!</h1></body></html>');
        case 'empty-202':
          return reply.code(202).send();
        case 'reset':
          request.raw.socket.destroy();
          return never();
        case 'hang':
          return never();
        case 'lost':
        case 'callback':
        case 'stream':
        case 'video':
          break;
        default:
          fault satisfies never;
      }
    }
    return undefined;
  });

  server.addHook('onSend', async (request, reply, payload) => {
    const lost = context.faultsOf(request).find((fault) => fault.kind === 'lost');
    if (lost === undefined) return payload;
    if (lost.how === 'reset') request.raw.socket.destroy();
    if (lost.how !== 'error') return never();
    const refusal = injected(502, 'the answer was lost');
    const family = routeFamily(request.url);
    const text = JSON.stringify(answerRefusal(refusal, family, context.shape, context.randomId()).body);
    reply.code(502).type('application/json').header('content-length', Buffer.byteLength(text));
    return text;
  });
}

function injected(status: number, what: string): RefusedRequest {
  return new RefusedRequest(reasonOfStatus(status), `injected fault: ${what}`, status);
}

const rule = z.strictObject({
  fault: z.string().min(1),
  path: z.string().optional(),
  times: z.int().positive().optional(),
});

/** `/emulator/faults`, no part of the gateway: GET lists the rules in force, POST adds one, DELETE ends them all. */
export function registerFaultRoutes(server: FastifyInstance, faults: Faults, apiKey: string): void {
  const path = '/emulator/faults';
  const onRequest = async (request: { headers: Parameters<typeof checkBearer>[0] }): Promise<void> =>
    checkBearer(request.headers, apiKey);
  server.get(path, { onRequest }, async () => faults.rules());
  server.delete(path, { onRequest }, async () => {
    faults.clear();
    return [];
  });
  server.post(path, { onRequest }, async (request) => {
    faults.add(readBody(rule, request));
    return faults.rules();
  });
}

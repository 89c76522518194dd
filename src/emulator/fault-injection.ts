import type { FastifyInstance } from 'fastify';
import type { EmulatorContext } from './context.ts';
import { familyOf, pathOf } from './family.ts';
import { answerRefusal, Refusal, reasonOfStatus } from './refusal.ts';

/** Makes the faults happen that befall a whole request, before it is taken or after its answer was made. */
export function registerFaultInjection(server: FastifyInstance, context: EmulatorContext): void {
  // A request that nobody answers ends when the client or the emulator goes away.
  const never = (): Promise<never> => new Promise(() => {});

  server.addHook('preValidation', async (request, reply) => {
    for (const fault of context.faultsOf(request)) {
      switch (fault.kind) {
        case 'slow':
          await context.hold(fault.seconds);
          break;
        case 'status':
          if (fault.retryAfter !== null) reply.header('retry-after', fault.retryAfter);
          throw new Refusal(reasonOfStatus(fault.status), `injected fault: status ${fault.status}`, {
            status: fault.status,
          });
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
    switch (lost.how) {
      case 'reset':
        request.raw.socket.destroy();
        return never();
      case 'hang':
        return never();
      case 'error': {
        const refusal = new Refusal('internal', 'injected fault: the answer was lost', { status: 502 });
        const { body } = answerRefusal(
          refusal,
          familyOf(pathOf(request.url)),
          context.shape,
          context.randomId(),
        );
        const text = JSON.stringify(body);
        reply.code(502).type('application/json').header('content-length', Buffer.byteLength(text));
        return text;
      }
      default:
        return lost.how satisfies never;
    }
  });
}

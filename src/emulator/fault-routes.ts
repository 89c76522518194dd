import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { checkBearer } from './auth.ts';
import { readBody } from './context.ts';
import { type Faults, UnknownFaultError } from './faults.ts';
import { Refusal } from './refusal.ts';

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
    const { fault, path: only, times } = readBody(rule, request);
    try {
      faults.add({
        fault,
        ...(only === undefined ? {} : { path: only }),
        ...(times === undefined ? {} : { times }),
      });
    } catch (error) {
      if (error instanceof UnknownFaultError) throw new Refusal('invalid', error.message);
      throw error;
    }
    return faults.rules();
  });
}

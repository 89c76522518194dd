/** Jobs whose gateway stands in front of the public services, and how they end. */
import { expect } from 'vitest';
import type { StartRequest } from '../../src/core/bot/start-request.ts';
import type { JobDependencies } from '../../src/jobs/dependencies.ts';
import { PLANS } from '../../src/jobs/route-plans.ts';
import { gatewayAt } from '../gateway/support.ts';
import { type Facade, startFacade } from '../servers/public/facade.ts';
import { advanceOnce, createWorld, type World } from './world.ts';

export const TAKE = { taskId: 'task', audioId: 'audio' };

export interface PublicWorld extends AsyncDisposable {
  readonly world: World;
  readonly services: Facade;
  readonly dependencies: JobDependencies;
  /** Starts work, and advances it until it waits for its callback or has ended. */
  run(work: StartRequest['work']): Promise<string>;
  /** Advances a job until it waits for its callback or has ended. */
  advance(job: string): Promise<void>;
  /** Whether the request counts as paid, and the text of the message. Checks its buttons. */
  endOf(job: string): Promise<string>;
}

type Charge = 'free' | 'uncertain' | 'paid';

export async function openPublicWorld(): Promise<PublicWorld> {
  const [world, services] = await Promise.all([createWorld(), startFacade({ takes: [TAKE] })]);
  const { gateway } = gatewayAt(services.url);
  const dependencies = { ...world.dependencies, gateway };

  async function advance(job: string): Promise<void> {
    for (let run = 0; run < 20; run += 1) {
      const next = await advanceOnce(dependencies, job);
      const { state, work } = await world.read(job);
      if (next === undefined || (state === 'waiting' && PLANS[work.route].resultMode === 'callback')) return;
      world.clock.advance(Math.max(1, next - world.clock.now()));
    }
  }

  return {
    world,
    services,
    dependencies,
    advance,
    async run(work) {
      const job = await world.start({ work, title: work.route });
      await advance(job);
      return job;
    },
    async endOf(job) {
      const { state, charged, chargeUncertain } = await world.read(job);
      expect(['failed', 'delivered']).toContain(state);
      const charge: Charge = charged ? (chargeUncertain ? 'uncertain' : 'paid') : 'free';
      const message = world.message();
      const offersAgain = !/won't (?:create|do) it again/.test(message?.text ?? '');
      const labels = (message?.actions ?? []).map(({ label }) => label);
      expect(labels.filter((label) => label !== 'Change')).toEqual(offersAgain ? ['Again'] : []);
      return `${charge}: ${message?.text}`;
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await services[Symbol.asyncDispose]();
    },
  };
}

/** The people of a history, and the chat that delivers their requests to any replica. */

import type { Outcome } from '../../src/core/bot/outcome.ts';
import type { StartRequest } from '../../src/core/bot/start-request.ts';
import { UserError } from '../../src/core/errors.ts';
import type { Address, Invocation } from '../../src/core/invocation.ts';
import type { Job } from '../../src/core/job.ts';
import type { Storage } from '../../src/storage/storage.ts';
import type { Press, Request } from './history.ts';
import type { Kernel } from './kernel.ts';
import type { Replica } from './replica.ts';
import { COMMANDS, workOf, workOn } from './requests.ts';
import type { Watch } from './watch.ts';

/** Without the thread. Each request has its own thread, so that messages can be assigned to requests. */
const ADDRESS: Address = { platform: 'slack', guild: 'team', channel: 'channel', person: 'ada' };
const ADA = { id: 'ada', displayName: 'Ada', moderator: false, roles: [] };

interface World {
  readonly kernel: Kernel;
  readonly watch: Watch;
  /** A random live replica. */
  readonly anyone: () => Replica | undefined;
  /** Reads immediately, as no person in the history can. */
  readonly observed: Storage;
  /** True if nobody presses buttons any longer. */
  readonly isOver: () => boolean;
}

export class People {
  readonly #world: World;
  #pressed = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** Sends a request now, and presses buttons later. */
  ask(request: Request, index: number, presses: readonly Press[]): void {
    const { kernel } = this.#world;
    const title = titleOf(request, index);
    const invocation = invocationOf(`event-${index}`, COMMANDS[request.kind], title);
    const start: StartRequest = { work: workOf(request.kind, title), title };
    const deliver = () => this.#deliver(start, invocation, request.late ?? false);
    deliver();
    if (request.twice) kernel.after(3_000, deliver);
    for (const { button, afterMs } of presses)
      kernel.after(afterMs, () => void this.#press(button, request, title).catch(() => undefined));
  }

  /** A command that a model runs on behalf of its requester. Never rejects. */
  async invoke(invocation: Invocation, { jobs, decisions }: Replica): Promise<Outcome> {
    const title = `song of ${invocation.id};`;
    try {
      const settings = await decisions.read(invocation.address);
      return await jobs.start({ work: workOf('song', title), title }, invocation, settings);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return { type: 'message', visibility: 'person', message: { text: error.message } };
    }
  }

  /** A refusal is shown to the requester immediately. */
  #deliver(request: StartRequest, invocation: Invocation, isLate: boolean): void {
    const { kernel, watch, anyone } = this.#world;
    const replica = anyone();
    if (!replica) return;
    const { process, jobs, decisions } = replica;
    kernel.tell('ada', `asks ${process.name} for ${request.title}`);
    const run = async () => {
      const settings = await decisions.read(invocation.address);
      const outcome = await jobs.start(request, invocation, settings);
      if (outcome.type !== 'accepted') return;
      if (isLate) {
        watch.unwanted.add(outcome.job);
        await outcome.decline?.();
        return;
      }
      await kernel.effect(process, `acknowledges ${request.title}`, () => watch.acknowledge(request.title));
      outcome.begin();
    };
    run().catch(() => undefined);
  }

  async #press(button: Press['button'], { kind }: Request, title: string): Promise<void> {
    const { kernel, watch, anyone, observed, isOver } = this.#world;
    if (isOver()) return;
    const job = (await Array.fromAsync(observed.jobs.all())).find((one) => one.title === title);
    const replica = anyone();
    if (!job || !replica) return;
    const { process, jobs } = replica;
    kernel.tell('ada', `presses ${button} for ${title} at ${process.name}`);
    this.#pressed += 1;
    const invocation = invocationOf(`press-${this.#pressed}`, COMMANDS[kind], `press ${this.#pressed}`);
    switch (button) {
      case 'cancel':
        watch.unwanted.add(job.id);
        await jobs.cancel(job.id, 'ada');
        return;
      case 'again': {
        const again = `${title.slice(0, -1)} again ${this.#pressed};`;
        this.#deliver({ work: workOf(kind, again), title: again, parent: job.id }, invocation, false);
        return;
      }
      case 'show':
        await jobs.reveal(job.id);
        return;
      case 'wav':
      case 'karaoke':
      case 'voice':
        this.#make(button, job, invocation);
        // Another person wants it, too.
        kernel.after(90_000, () => this.#make(button, job, { ...invocation, id: `${invocation.id} too` }));
        return;
      case 'here': {
        const outcome = await jobs.showAt(
          job.id,
          { ...invocation.address, channel: 'another channel' },
          'ada',
        );
        if (outcome?.type === 'accepted') outcome.begin();
        return;
      }
      default:
        button satisfies never;
    }
  }

  /** Some work is done only once per take, however often it is requested. */
  #make(button: 'wav' | 'karaoke' | 'voice', job: Job, invocation: Invocation): void {
    const [song] = job.result?.songs ?? [];
    if (song?.audioId === undefined || job.taskId === undefined) return;
    // The name of the audio identifies the paid work and its request, if the request does not name the job.
    const suffix = button === 'wav' ? '' : ` for ${invocation.id}`;
    const title = `${job.title.slice(0, -1)} as ${button}${suffix};`;
    const work = workOn(button, { taskId: job.taskId, audioId: title });
    this.#deliver({ work, title, parent: job.id }, invocation, false);
  }
}

/** Ends with a unique mark, so that no title is part of another. */
function titleOf({ kind }: Request, index: number): string {
  return `${kind} ${index};`;
}

function invocationOf(id: string, command: string, thread: string): Invocation {
  return { id, command, options: {}, address: { ...ADDRESS, thread }, person: ADA };
}

/** Stems: a take split into voice and band, or into every instrument. */
import { type Context, defineFormAction, type OptionDeclarations, type Outcome } from '../../src/command.ts';
import { knownTake, type Take, takeName } from './takes.ts';

type Split = 'separate_vocal' | 'split_stem';

export const splitOption = {
  type: 'choice',
  description: 'Voice and band, or every instrument',
  choices: [
    { name: 'vocals', value: 'separate_vocal' },
    { name: 'all', value: 'split_stem' },
  ],
} as const;

const options = { split: { ...splitOption, required: true } } as const satisfies OptionDeclarations;

export const splitAction = defineFormAction({
  options,

  async form({ job, index }) {
    knownTake({ job, index });
    return { title: 'Take it apart', submitLabel: 'Split', initial: { split: 'separate_vocal' } };
  },

  run: ({ job, index, options: { split } }, context) => splitTake({ job, index }, split, context),
});

/** Throws UserError when the gateway's ids of the take are not known. */
export async function splitTake(take: Take, type: Split, { jobs }: Context): Promise<Outcome> {
  const { taskId, audioId } = knownTake(take);
  const name = takeName(take);
  return jobs.start({
    work: { route: 'music.vocalRemoval', request: { taskId, audioId, type } },
    title: `Taking apart ${name}`,
    parent: take.job.id,
    madeFrom: name,
    command: 'stems',
  });
}

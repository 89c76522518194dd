import { expect, it } from 'vitest';
import { commands, commandsFor, familyOfCommand } from '../../commands/index.ts';
import type { JobView } from '../../src/core/job.ts';
import { FAMILIES, type Family } from '../../src/core/models/family.ts';

const offer = (...offered: readonly Family[]) => ({ offered, changesImages: true });
const names = (...families: readonly Family[]) => commandsFor(offer(...families)).map(({ name }) => name);
const ALWAYS = ['jobs', 'schedule', 'models', 'limits', 'minstrel'];

it.each([
  [['ask'] as const, ['ask']],
  [['image', 'video'] as const, ['image', 'video']],
  [['song'] as const, ['song', 'lyrics', 'stems', 'remix', 'voices', 'party', 'contest', 'pages']],
])('with a service for %s, offers those commands and the ones without a service', (families, expected) => {
  expect(names(...families).sort()).toEqual([...expected, ...ALWAYS].sort());
});

it('offers every command if every family has a service', () => {
  expect(names(...FAMILIES)).toEqual(commands.map(({ name }) => name));
});

it('knows the family of each command that may be missing', () => {
  const missing = commands.filter(({ name }) => !names().includes(name));
  for (const { name } of missing) if (name !== 'pages') expect(familyOfCommand(name), name).toBeDefined();
});

it('limits the choices of other commands to these families', () => {
  const choicesOf = (command: string, subcommand: string, option: string) => {
    const declared = commandsFor(offer('ask')).find(({ name }) => name === command)?.subcommands?.[
      subcommand
    ];
    const found = declared?.options[option];
    return found?.type === 'choice' ? found.choices.map(({ value }) => value) : undefined;
  };
  expect(choicesOf('models', 'set', 'family')).toEqual(['ask']);
  expect(choicesOf('schedule', 'add', 'what')).toEqual(['ask']);
});

it('leaves Animate out of images if nothing creates videos, and Change if nothing takes images', () => {
  const job = {
    id: 'job',
    command: 'image',
    title: 'A fox',
    person: { id: 'ada', displayName: 'Ada' },
    work: { route: 'media.image', request: { model: 'm', prompt: 'a fox' } },
    result: {
      songs: [],
      lyrics: [],
      stems: [],
      images: [{ type: 'remote', url: 'https://cdn.example/p.png' }],
    },
    // Rendering reads no other member.
  } as unknown as JobView;
  const imageOf = (changesImages: boolean, ...offered: readonly Family[]) =>
    commandsFor({ offered, changesImages }).find(({ name }) => name === 'image');
  const labels = (...offer: Parameters<typeof imageOf>) =>
    imageOf(...offer)
      ?.done?.(job)
      .actions?.map(({ label }) => label);
  expect(labels(true, 'image', 'video')).toEqual(['Change', 'Animate', 'Again']);
  expect(labels(true, 'image')).toEqual(['Change', 'Again']);
  expect(labels(false, 'image', 'video')).toEqual(['Animate', 'Again']);
  expect(Object.keys(imageOf(false, 'image')?.actions ?? {})).toEqual([]);
  expect(Object.keys(imageOf(true, 'image')?.options ?? {})).toContain('reference');
  expect(Object.keys(imageOf(false, 'image')?.options ?? {})).not.toContain('reference');
});

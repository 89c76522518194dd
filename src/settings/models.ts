/** Which model a family uses here: the one named, else the channel's, the server's, the deployment's. */
import type { Address, Choice, Family, Log } from '../command.ts';
import { UserError } from '../errors.ts';
import type { Models } from '../gateway/models.ts';
import { MUSIC_MODELS } from '../gateway/music.ts';
import type { Message } from '../message.ts';
import { plain } from '../message.ts';
import { type Actor, FAMILIES, type ModelInForce, type Where } from '../moderation.ts';
import type { DecisionStore, Decisions } from './decisions.ts';
import { FAMILY_WORDS } from './words.ts';

/** Discord shows at most 25 completions. */
const MOST_SUGGESTIONS = 25;
/** Routes that may stand in front of an id, as in `msg:some-id`. */
const ROUTES = {
  song: [],
  ask: ['chat', 'msg', 'gen'],
  image: ['gen'],
  video: [],
} as const satisfies Record<Family, readonly string[]>;
const ORDER = ['channel', 'server'] as const satisfies readonly Where[];

export type ModelDefaults = { readonly [Name in Family]?: string | undefined };

export interface FoundModel {
  readonly model: string;
  /** The display name that was given for it. */
  readonly label?: string;
  /** False while no list can be had: then nothing is refused, and the gateway decides. */
  readonly checked: boolean;
}

export interface ModelSettings {
  /** Throws UserError when the name is not one this account may use, or when nobody has chosen yet. */
  resolve(family: Family, named: string | undefined, where: Address): Promise<string>;
  suggest(family: Family, typed: string): Promise<readonly Choice[]>;
  /** The id that a name means. Throws UserError with the nearest ids when the account may not use it. */
  find(family: Family, name: string): Promise<FoundModel>;
  inForce(where: Address): Promise<ModelInForce[]>;
}

interface ModelSettingsOptions {
  readonly defaults: ModelDefaults;
  /** The gateway's list: the authority on which ids this account may use. */
  readonly models: Pick<Models, 'list' | 'cached' | 'resolve' | 'refresh'>;
  readonly decisions: DecisionStore;
  /** Reaches one person, in a place or directly. */
  readonly tell: (address: Address, message: Message) => Promise<void>;
  readonly now: () => number;
  readonly log: Log;
}

export function createModelSettings(options: ModelSettingsOptions): ModelSettings {
  const { defaults, models, decisions } = options;

  /** The choices of a place that the account still has, and those that it has not. */
  function choices(family: Family, settings: Decisions): { chosen?: ChosenModel; gone: ChosenModel[] } {
    const gone: ChosenModel[] = [];
    for (const from of ORDER) {
      const kept = settings[from].models[family];
      if (!kept) continue;
      const choice = { model: kept.id, from, by: kept.by, toldGoneAt: kept.toldGoneAt };
      if (isOffered(family, kept.id, models)) return { chosen: choice, gone };
      gone.push(choice);
    }
    return { gone };
  }

  async function look(family: Family, settings: Decisions): Promise<ReturnType<typeof choices>> {
    const first = choices(family, settings);
    if (first.gone.length === 0) return first;
    // The list may be old, or have come while the gateway was restarting.
    await models.refresh().catch((error: unknown) => {
      options.log.info({ err: error }, 'The models could not be listed again');
    });
    return choices(family, settings);
  }

  return {
    async resolve(family, named, where) {
      if (named !== undefined) return (await find(family, named, models)).model;
      const { chosen, gone } = await look(family, await decisions.read(where));
      const fallback = chosen?.model ?? defaults[family];
      for (const lost of gone) await tellGone({ family, lost, fallback, where }, options);
      if (chosen) return chosen.model;
      if (fallback === undefined) throw new UserError(await nobodyChose(family, models), 'model');
      return (await find(family, fallback, models)).model;
    },

    async suggest(family, typed) {
      const wanted = typed.trim().toLowerCase();
      const all =
        family === 'song'
          ? MUSIC_MODELS.map(choiceOf)
          : models.cached().map(({ id, displayName }) => ({
              name:
                displayName && displayName !== id ? `${displayName} (${id})`.slice(0, 100) : id.slice(0, 100),
              value: id,
            }));
      return all
        .filter(({ name, value }) => value.length <= 100 && `${name} ${value}`.toLowerCase().includes(wanted))
        .slice(0, MOST_SUGGESTIONS);
    },

    find: (family, name) => find(family, name, models),

    async inForce(where) {
      const settings = await decisions.read(where);
      return FAMILIES.map((family): ModelInForce => {
        const { chosen, gone } = choices(family, settings);
        const lost = gone.map(({ model, from }) => ({ model, from }));
        if (chosen) {
          return { family, model: chosen.model, from: chosen.from, chosenBy: chosen.by, gone: lost };
        }
        const fallback = defaults[family];
        return {
          family,
          from: fallback === undefined ? 'nobody' : 'deployment',
          ...(fallback === undefined ? {} : { model: fallback }),
          gone: lost,
        };
      });
    },
  };
}

interface ChosenModel {
  readonly model: string;
  readonly from: Where;
  readonly by: Actor;
  readonly toldGoneAt: number | undefined;
}

/** Tells the moderator who chose it, once: whoever writes the mark first does the telling. */
async function tellGone(
  {
    family,
    lost,
    fallback,
    where,
  }: { family: Family; lost: ChosenModel; fallback: string | undefined; where: Address },
  { decisions, tell, now, log }: ModelSettingsOptions,
): Promise<void> {
  if (lost.toldGoneAt !== undefined) return;
  const isFirst = await decisions.change(where, lost.from, lost.by, (settings) => {
    const kept = settings.models[family];
    if (kept?.id !== lost.model || kept.toldGoneAt !== undefined) return undefined;
    return {
      settings: { ...settings, models: { ...settings.models, [family]: { ...kept, toldGoneAt: now() } } },
    };
  });
  if (!isFirst) return;
  log.warn({ family, model: lost.model, fallback, from: lost.from }, 'A model that moderators chose is gone');
  const instead = fallback === undefined ? 'no model is chosen now' : `I use “${plain(fallback)}” instead`;
  const { platformData: _theirs, ...place } = where;
  const message: Message = {
    text: `The model “${plain(lost.model)}”, chosen for ${FAMILY_WORDS[family]} in this ${lost.from}, is not offered to this bot any more: ${instead}. Choose another with /models set.`,
  };
  await tell({ ...place, person: lost.by.id || where.person }, message).catch((error: unknown) => {
    log.warn({ err: error }, 'Nobody could be told that a model is gone; /models show says it');
  });
}

function choiceOf(id: string): Choice {
  return { name: id, value: id };
}

/** The id without the route in front of it. */
function bareId(family: Family, name: string): { route?: string; id: string } {
  const [, route, id] = /^([a-z]+):(.+)$/.exec(name) ?? [];
  const known: readonly string[] = ROUTES[family];
  return route !== undefined && id !== undefined && known.includes(route) ? { route, id } : { id: name };
}

function isOffered(family: Family, model: string, models: ModelSettingsOptions['models']): boolean {
  if (family === 'song') return MUSIC_MODELS.some((known) => known === model);
  const found = models.resolve(bareId(family, model).id);
  return found.kind === 'unlisted' || found.kind === 'id';
}

function songModel(name: string): FoundModel {
  const model = MUSIC_MODELS.find((known) => known.toLowerCase() === name.toLowerCase());
  if (model) return { model, checked: true };
  throw new UserError(
    `There is no song model “${name}”. The song models are ${MUSIC_MODELS.join(', ')}.`,
    'model',
  );
}

/** Keeps a route in front of the id, as in `msg:some-id`. Without a list nothing is refused: the gateway decides. */
async function find(
  family: Family,
  named: string,
  models: ModelSettingsOptions['models'],
): Promise<FoundModel> {
  const name = named.trim();
  if (family === 'song') return songModel(name);
  const { route, id } = bareId(family, name);
  const withRoute = (bare: string): string => (route === undefined ? bare : `${route}:${bare}`);
  const found = models.resolve(id);
  switch (found.kind) {
    case 'id':
      return { model: withRoute(found.id), checked: true };
    case 'label':
      return { model: withRoute(found.id), label: id, checked: true };
    case 'unlisted':
      return { model: name, checked: false };
    case 'unknown': {
      const near = found.nearest.length > 0 ? ` Did you mean ${list(found.nearest)}?` : '';
      throw new UserError(`This account has no model “${id}”.${near}`, 'model');
    }
    default:
      return found satisfies never;
  }
}

async function nobodyChose(family: Family, models: ModelSettingsOptions['models']): Promise<string> {
  const ids = await models.list().then(
    (all) => all.map(({ id }) => id),
    () => [],
  );
  const some = ids.length > 0 ? ` These are available: ${ids.slice(0, 20).join(', ')}.` : '';
  return `Nobody has chosen a model for ${FAMILY_WORDS[family]} yet. Name one with the option “model”, or let a moderator choose with /models set.${some}`;
}

function list(names: readonly string[]): string {
  return names.map((name) => `“${name}”`).join(' or ');
}

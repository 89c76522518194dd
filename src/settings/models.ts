/** Chooses the model of a family: the named one, else the channel's, the server's, or the deployment's. */
import type { ImageEditorChoice } from '../core/bot/context.ts';
import { UserError } from '../core/errors.ts';
import type { Address } from '../core/invocation.ts';
import { type Message, plain } from '../core/message.ts';
import { FAMILY_NOUNS, type Family } from '../core/models/family.ts';
import {
  joinModelNames,
  MODEL_ROUTES,
  MOST_MODELS,
  modelNames,
  parseModelName,
} from '../core/models/model-name.ts';
import type { Actor, ChosenModel, ModelInForce, Origin, Where } from '../core/moderation.ts';
import type { Choice } from '../core/options.ts';
import type { System } from '../core/system.ts';
import { present } from '../core/util/present.ts';
import type { SongModel } from '../core/work.ts';
import type { Models } from '../gateway/models/catalog.ts';
import type { ModelUse } from '../gateway/models/hints.ts';
import type { Model } from '../gateway/models/listing.ts';
import { preferred } from '../gateway/models/public-models.ts';
import { isMusicModel, MUSIC_MODELS } from '../gateway/music/requests.ts';
import type { DecisionStore, Decisions, Edit } from './decisions.ts';

export type ModelDefaults = { readonly [Name in Family]?: string | undefined };

/** `checked` is false if the list could not be loaded. Then any name is accepted, and the gateway decides. */
export type FoundModel = Omit<ChosenModel, 'overrides'>;

export interface ModelSettings {
  /**
   * Returns the named model, or else the models set here that the account has; for questions, several joined in the order to
   * ask. Throws UserError if the account may not use the named model, or no model is set.
   */
  resolve(family: Family, named: string | undefined, where: Address, settings: Decisions): Promise<string>;
  /**
   * Returns a gen model, with its route, for an image made from others: the named one, or else the previous one, the one set here,
   * or any other of the account. Throws UserError if the named model is not a gen model, or if the account has no gen model.
   */
  imageEditor(choice: ImageEditorChoice | undefined, settings: Decisions): Promise<string>;
  suggest(family: Family, typed: string): readonly Choice[];
  /** Returns the ids for a choice. Reloads the list if a name is missing. Throws UserError with the nearest ids. */
  find(family: Family, name: string): Promise<FoundModel>;
  inForce(settings: Decisions): ModelInForce[];
}

export interface ModelSettingsOptions extends Pick<System, 'now' | 'log'> {
  readonly defaults: ModelDefaults;
  /** The gateway's list of the ids that this account may use. */
  readonly models: Pick<Models, 'cached' | 'resolve' | 'find' | 'preferred' | 'ready'>;
  /** The families that have a service. */
  readonly families: readonly Family[];
  /** Ids that the operator configured, accepted even if the gateway does not list them. */
  readonly configured: readonly string[];
  /** Gen models that the operator configured for text with images. */
  readonly illustrating: readonly string[];
  readonly decisions: DecisionStore;
  /** Sends a private message to `address.person`. */
  readonly notify: (address: Address, message: Message) => Promise<void>;
}

export function createModelSettings(options: ModelSettingsOptions): ModelSettings {
  const { configured } = options;
  const { resolve } = options.models;
  const models: typeof options.models = {
    ...options.models,
    resolve(id) {
      const choice = resolve(id);
      return choice.kind === 'unknown' && configured.includes(id) ? { kind: 'unlisted' } : choice;
    },
  };

  /** The operator's default, else a model of the operator's own service. */
  function defaultOf(family: Family): string | undefined {
    const operators = options.defaults[family];
    if (operators !== undefined || family === 'song') return operators;
    const model = models.preferred(USES[family].use);
    return model && withRoute(routeNeeded(model, family), model.id);
  }

  /** Returns the choice in force, and overriding choices that are no longer available. */
  function choices(
    family: Family,
    settings: Decisions,
  ): { chosen?: StoredChoice; unavailable: StoredChoice[] } {
    const unavailable: StoredChoice[] = [];
    for (const from of ['channel', 'server'] as const) {
      const chosen = settings[from].models[family];
      if (!chosen) continue;
      const { id: stored, by, notifiedAt } = chosen;
      const { offered, lost } = splitByAvailability(family, stored, models);
      if (lost !== undefined) unavailable.push({ stored, model: lost, from, by, notifiedAt });
      if (offered !== undefined)
        return { chosen: { stored, model: offered, from, by, notifiedAt }, unavailable };
    }
    return { unavailable };
  }

  async function checkedChoices(family: Family, settings: Decisions): Promise<ReturnType<typeof choices>> {
    const first = choices(family, settings);
    const fallback = first.chosen?.model ?? defaultOf(family);
    const inForce = [
      ...first.unavailable.map(({ model }) => model),
      ...(fallback === undefined ? [] : [fallback]),
    ];
    const lost = inForce
      .flatMap((choice) => namesIn(family, choice))
      .find((model) => !isOffered(family, model, models));
    if (lost === undefined) return first;
    // The list may be outdated, or incomplete because the gateway was restarting.
    await models.find(parseModelName(family, lost).id);
    return choices(family, settings);
  }

  /** The gen models that create images, the best one to use unasked first. */
  function imageEditors(): string[] {
    const listed = models
      .cached()
      .filter(({ uses, routes }) => uses?.includes('pictures') && routes?.includes('gen'));
    const first = preferred(listed);
    const ids = [...options.illustrating, ...(first ? [first, ...listed] : []).map(({ id }) => id)];
    return [...new Set(ids)].map((id) => withRoute('gen', id));
  }

  return {
    async imageEditor({ named, previous } = {}, settings) {
      if (named !== undefined) {
        const { model } = lookUp('image', named, models);
        if (isGen(model)) return model;
        throw new UserError(notAnEditorText(model, imageEditors()), 'model');
      }
      await models.ready();
      const { chosen } = await checkedChoices('image', settings);
      const usual = chosen?.model ?? defaultOf('image');
      const model = [previous, usual, ...imageEditors()].find(
        (name) => name !== undefined && isGen(name) && isOffered('image', name, models),
      );
      if (model !== undefined) return model;
      throw new UserError(NO_EDITOR_TEXT, 'model');
    },

    async resolve(family, named, where, settings) {
      if (named !== undefined) return lookUp(family, named, models).model;
      if (options.defaults[family] === undefined) await models.ready();
      const { chosen, unavailable } = await checkedChoices(family, settings);
      const fallback = chosen?.model ?? defaultOf(family);
      for (const lost of unavailable) await notifyUnavailable({ family, lost, fallback, where }, options);
      if (chosen) return chosen.model;
      if (fallback === undefined) throw new UserError(noModelText(family, models), 'model');
      const { offered } = splitByAvailability(family, fallback, models);
      if (offered !== undefined)
        return joinModelNames(namesIn(family, offered).map((name) => lookUp(family, name, models).model));
      options.log.warn(
        { family, model: fallback },
        'The default model is not available to this gateway account',
      );
      const which = `The default model for ${FAMILY_NOUNS[family].many}, “${fallback}”, is no longer available.`;
      throw new UserError(`${which} ${chooseText(family, models)}`, 'model');
    },

    suggest(family, typed) {
      const { route, id: query } = parseModelName(family, typed.toLowerCase());
      const all =
        family === 'song'
          ? songModels(models).map((id) => ({ name: id, value: id }))
          : models
              .cached()
              .toSorted((left, right) => distanceOf(left, family, route) - distanceOf(right, family, route))
              .map((model) => {
                const { id, displayName } = model;
                const value = withRoute(route ?? routeNeeded(model, family), id);
                const name = displayName && displayName !== id ? `${displayName} (${value})` : value;
                return { name, value };
              });
      return all.filter(({ name, value }) => `${name} ${value}`.toLowerCase().includes(query));
    },

    async find(family, name) {
      const names = namesIn(family, name);
      assertCount(family, names);
      const found: FoundModel[] = [];
      for (const one of names) {
        if (family !== 'song') await models.find(parseModelName(family, one).id);
        found.push(lookUp(family, one, models));
      }
      const [first, ...rest] = found;
      if (first && rest.length === 0) return first;
      const model = joinModelNames([...new Set(found.map((one) => one.model))]);
      return { model, checked: found.every(({ checked }) => checked) };
    },

    inForce: (settings) =>
      options.families.map((family) => {
        const { chosen, unavailable } = choices(family, settings);
        const operators = defaultOf(family);
        const { offered: fallback, lost } =
          operators === undefined ? {} : splitByAvailability(family, operators, models);
        const from: Origin = chosen?.from ?? (fallback === undefined ? 'none' : 'deployment');
        const choicesOfModerators = unavailable.map((choice) => ({ model: choice.model, from: choice.from }));
        return present({
          family,
          model: chosen?.model ?? fallback,
          from,
          chosenBy: chosen?.by,
          unavailable:
            lost !== undefined && !chosen
              ? [...choicesOfModerators, { model: lost, from: 'deployment' as const }]
              : choicesOfModerators,
        });
      }),
  };
}

interface StoredChoice {
  /** As in the settings. */
  readonly stored: string;
  /** The available or the missing models of the choice. */
  readonly model: string;
  readonly from: Where;
  readonly by: Actor;
  readonly notifiedAt: number | undefined;
}

/** Notifies the moderator who chose the model once. The first replica to store the mark sends the message. */
async function notifyUnavailable(
  change: { family: Family; lost: StoredChoice; fallback: string | undefined; where: Address },
  { decisions, notify, now, log }: ModelSettingsOptions,
): Promise<void> {
  const { family, lost, fallback, where } = change;
  if (lost.notifiedAt !== undefined) return;
  const isFirst = await decisions.change(where, lost.from, lost.by, (settings) => {
    const chosen = settings.models[family];
    if (chosen?.id !== lost.stored || chosen.notifiedAt !== undefined) return undefined;
    return {
      settings: { ...settings, models: { ...settings.models, [family]: { ...chosen, notifiedAt: now() } } },
    };
  });
  if (!isFirst) return;
  log.warn({ family, model: lost.model, fallback, from: lost.from }, 'A chosen model is no longer available');
  const instead =
    fallback === undefined ? 'There is no other model to use' : `I'm using “${plain(fallback)}” instead`;
  // Platform data of an address belongs to the requester.
  const { platformData: _theirs, ...address } = where;
  // The notice may be a direct message, where “this channel” is wrong. Threads have other names.
  const channel = lost.from === 'channel' && where.parent === undefined ? where.channelName : undefined;
  const place = channel === undefined ? '' : ` in #${plain(channel)}`;
  const text = `The model for ${FAMILY_NOUNS[family].many}${place}, “${plain(lost.model)}”, is no longer available. ${instead}. Choose another model with /models set.`;
  await notify({ ...address, person: lost.by.id || where.person }, { text }).catch((error: unknown) => {
    log.warn(
      { err: error },
      'Could not notify anyone that a model is no longer available; /models show lists it',
    );
  });
}

/** Stores a moderator's choice. */
export function chooseModel(family: Family, model: string, by: Actor, at: number): Edit {
  return (settings) => ({
    settings: { ...settings, models: { ...settings.models, [family]: { id: model, by, at } } },
    trace: {
      what: `model for ${FAMILY_NOUNS[family].many}`,
      from: settings.models[family]?.id ?? 'not set',
      to: model,
    },
  });
}

export function resetModel(family: Family): Edit {
  return (settings) => {
    const { [family]: before, ...models } = settings.models;
    if (!before) return undefined;
    return {
      settings: { ...settings, models },
      trace: { what: `model for ${FAMILY_NOUNS[family].many}`, from: before.id, to: 'not set' },
    };
  };
}

/** Routes used if none is named, unless the list offers the model only on other routes. */
const DEFAULT_ROUTES = { ask: 'chat', image: 'media', video: 'media' } as const;

/** Returns the route that must precede an id, according to the list. */
function routeNeeded({ routes, uses }: Model, family: Exclude<Family, 'song'>): string | undefined {
  if (!uses?.includes(USES[family].use) || routes?.some((route) => route === DEFAULT_ROUTES[family]))
    return undefined;
  return MODEL_ROUTES[family].find((route) => routes?.some((known) => known === route));
}

function withRoute(route: string | undefined, id: string): string {
  return route === undefined ? id : `${route}:${id}`;
}

/** The use of each family's models. */
const USES = {
  ask: { use: 'answers', does: 'answers' },
  image: { use: 'pictures', does: 'images' },
  video: { use: 'videos', does: 'videos' },
} as const satisfies Record<Exclude<Family, 'song'>, { use: ModelUse; does: string }>;

/** Sorts a family's own models first, those on the typed route before others, and other families' models last. */
function distanceOf({ uses, routes }: Model, family: Family, route?: string): number {
  if (family === 'song') return 0;
  const isOtherFamily = uses !== undefined && !uses.includes(USES[family].use);
  const isOtherRoute = route !== undefined && !routes?.some((known) => known === route);
  return (isOtherFamily ? 4 : uses === undefined ? 2 : 0) + (isOtherRoute ? 1 : 0);
}

/** Throws UserError for a model that the list assigns to another family. */
function assertFamily({ id, uses = [] }: Model, family: Exclude<Family, 'song'>): void {
  const [own] = Object.entries(USES).filter(([, { use }]) => uses.includes(use));
  if (own === undefined || uses.includes(USES[family].use)) return;
  const [command, { does }] = own;
  throw new UserError(
    `“${id}” is for ${does}, not ${USES[family].does}. Use it with /${command}, or choose another model here.`,
    'model',
  );
}

function isOffered(family: Family, model: string, models: ModelSettingsOptions['models']): boolean {
  if (family === 'song') return isMusicModel(model);
  return models.resolve(parseModelName(family, model).id).kind !== 'unknown';
}

/** Returns the names of a choice. Only questions can have several models. */
function namesIn(family: Family, choice: string): readonly string[] {
  return family === 'ask' ? modelNames(choice) : [choice];
}

/** Sorts the models of a choice by whether the account has them. */
function splitByAvailability(
  family: Family,
  choice: string,
  models: ModelSettingsOptions['models'],
): { offered?: string; lost?: string } {
  const { offered = [], lost = [] } = Object.groupBy(namesIn(family, choice), (name) =>
    isOffered(family, name, models) ? 'offered' : 'lost',
  );
  return {
    ...(offered.length > 0 && { offered: joinModelNames(offered) }),
    ...(lost.length > 0 && { lost: joinModelNames(lost) }),
  };
}

/** Throws UserError for too many models, or none. */
function assertCount(family: Family, names: readonly string[]): void {
  if (family !== 'ask' && names.some((name) => name.includes(',')))
    throw new UserError(
      `Only questions can have several models. Choose one for ${FAMILY_NOUNS[family].many}.`,
      'model',
    );
  if (names.length === 0 || names.length > MOST_MODELS)
    throw new UserError(`Choose up to ${MOST_MODELS} models, separated by commas.`, 'model');
}

/** Returns the song models, newest first, with those that only the list has. */
function songModels({ cached }: Pick<Models, 'cached'>): string[] {
  const listed = cached().flatMap(({ id }) => (isMusicModel(id) ? [id] : []));
  return [...new Set([...listed, ...MUSIC_MODELS.toReversed()])];
}

/** Throws UserError for an unknown song model. */
export function songModel(name: string): SongModel {
  const model = name.toUpperCase();
  if (isMusicModel(model)) return model;
  throw new UserError(
    `“${name}” isn't a song model. Choose one of these: ${MUSIC_MODELS.join(', ')}.`,
    'model',
  );
}

/** Keeps a route before the id, as in `msg:some-id`. Without a list, accepts any name, and the gateway decides. */
function lookUp(family: Family, named: string, models: ModelSettingsOptions['models']): FoundModel {
  const name = named.trim();
  if (family === 'song') return { model: songModel(name), checked: true };
  const { route, id } = parseModelName(family, name);
  const choice = models.resolve(id);
  switch (choice.kind) {
    case 'id':
    case 'label': {
      assertFamily(choice.model, family);
      const model = withRoute(route ?? routeNeeded(choice.model, family), choice.model.id);
      return { model, ...(choice.kind === 'label' ? { label: id } : {}), checked: true };
    }
    case 'unlisted':
      return { model: name, checked: false };
    case 'unknown': {
      const near = choice.nearest.map((one) => `“${one}”`).join(' or ');
      throw new UserError(
        `The model “${id}” isn't available.${near && ` Did you mean ${near}?`} Choose another model.`,
        'model',
      );
    }
    default:
      return choice satisfies never;
  }
}

const isGen = (model: string): boolean => parseModelName('image', model).route === 'gen';

const NO_EDITOR_TEXT =
  'No image model here can create images from other images. Ask a moderator to set a gen model with /models set, as in “gen:some-id”. With /image, you can also name one in “model”.';

function notAnEditorText(model: string, editors: readonly string[]): string {
  const problem = `The model “${model}” can't create images from other images.`;
  if (editors.length === 0) return `${problem} ${NO_EDITOR_TEXT}`;
  const some = editors.slice(0, 5).join(', ');
  return `${problem} Leave out “model”, or choose one that can: ${some}.`;
}

const noModelText = (family: Family, models: ModelSettingsOptions['models']): string =>
  `No model for ${FAMILY_NOUNS[family].many} is set yet. ${chooseText(family, models)}`;

function chooseText(family: Family, models: ModelSettingsOptions['models']): string {
  const ids = models
    .cached()
    .toSorted((left, right) => distanceOf(left, family) - distanceOf(right, family))
    .slice(0, 20)
    .map(({ id }) => id);
  const some = ids.length > 0 ? ` Available models: ${ids.join(', ')}.` : '';
  return `Choose one in “model”, or ask a moderator to set one with /models set.${some}`;
}

/** Which model answers a question, on which route, and in which way. */
import type { AnswerSettings, Choice, Context } from '../src/command.ts';
import { UserError } from '../src/errors.ts';
import type { AnswerRoute, AnswerWay } from '../src/work.ts';
import { quoted } from './text.ts';

/** The commands that a model may use, where moderators switched the assistant on. */
const TOOLS = ['song', 'lyrics', 'image', 'video', 'stems'] as const;

const NO_TOOL_MODEL =
  'My commands may be used in answers here, but no model for that is set: whoever runs this bot can set TOOL_MODEL, or a moderator can choose a gen model';

export interface AnswerPlan {
  readonly dialect: AnswerRoute;
  readonly model: string;
  readonly way?: AnswerWay;
  /** Plain small print. */
  readonly note?: string;
}

export interface Asked {
  /** As the person named it. */
  readonly named: string | undefined;
  readonly hasPicture: boolean;
  readonly settings: AnswerSettings;
}

/**
 * A choice is `route:id`. Without a route, the listing that knows the id decides; pictures go by msg, or by gen where
 * the model is there. Throws UserError when a picture was sent to a model that cannot look at it.
 */
export async function planAnswer(asked: Asked, context: Context): Promise<AnswerPlan> {
  const { toolModel } = context.answers;
  const { named, settings } = asked;
  const isToolModel = named === undefined || readChoice(named).id === toolModel;
  if (settings.assistant && toolModel !== undefined && isToolModel)
    return { dialect: 'gen', model: toolModel, way: { type: 'tools', commands: TOOLS } };

  const choice = readChoice(await context.models.resolve('ask', named));
  const plan = await lookedAt(choice, asked, context);
  if (plan.dialect === 'gen') return inItsWay(plan, asked, context);
  const isMissing = settings.assistant && toolModel === undefined && named === undefined;
  return isMissing ? { ...plan, note: NO_TOOL_MODEL } : plan;
}

interface ModelChoice {
  readonly route: AnswerRoute | undefined;
  readonly id: string;
}

function readChoice(choice: string): ModelChoice {
  const [, route, id] = /^(chat|msg|gen):(.+)$/.exec(choice.trim()) ?? [];
  if (id && (route === 'chat' || route === 'msg' || route === 'gen')) return { route, id };
  return { route: undefined, id: choice.trim() };
}

/** The route of a choice that can look at the pictures, if there are any. */
async function lookedAt(
  choice: ModelChoice,
  { named, hasPicture }: Asked,
  context: Context,
): Promise<AnswerPlan> {
  const route = choice.route ?? routeOf(choice.id, hasPicture, context);
  if (!hasPicture || route !== 'chat') return { dialect: route, model: choice.id };
  const { visionModel } = context.answers;
  if (named !== undefined || visionModel === undefined) {
    throw new UserError(
      `The model ${quoted(choice.id)} cannot be shown pictures on the chat route. Choose one on the msg or gen route with the option “model”, as in “msg:some-id”.`,
      'model',
    );
  }
  const seeing = readChoice(await context.models.resolve('ask', visionModel));
  return { dialect: seeing.route ?? 'msg', model: seeing.id };
}

function routeOf(id: string, hasPicture: boolean, { models, answers }: Context): AnswerRoute {
  if (answers.illustratingModels.includes(id) || answers.thinkingModels.includes(id)) return 'gen';
  const listed = models.listedBy(id);
  if (hasPicture) return listed.includes('msg') || listed.length === 0 ? 'msg' : 'chat';
  return listed.includes('msg') && !listed.includes('chat') ? 'msg' : 'chat';
}

/** What a gen model is asked for: text, text and pictures, thinking, or the use of commands. */
function inItsWay(plan: AnswerPlan, { settings }: Asked, { answers }: Context): AnswerPlan {
  if (answers.illustratingModels.includes(plan.model)) return { ...plan, way: { type: 'illustrated' } };
  if (answers.thinkingModels.includes(plan.model))
    return { ...plan, way: { type: 'thinking', budget: answers.thinkingBudget } };
  // Without a model of its own for that, the gen model that was chosen uses the commands.
  const usesCommands = settings.assistant && answers.toolModel === undefined;
  return usesCommands ? { ...plan, way: { type: 'tools', commands: TOOLS } } : plan;
}

/** Completions: the account's models, and before them what only some deployments have. */
export async function suggestModels(typed: string, { models, answers }: Context): Promise<readonly Choice[]> {
  const wanted = typed.trim().toLowerCase();
  const special = [
    ...answers.thinkingModels.map((id) => ({ name: `${id} (thinks first; preview)`, value: `gen:${id}` })),
    ...answers.illustratingModels.map((id) => ({ name: `${id} (with pictures)`, value: `gen:${id}` })),
  ].filter(({ name, value }) => value.length <= 100 && `${name} ${value}`.toLowerCase().includes(wanted));
  const ids = new Set(special.map(({ value }) => value.slice('gen:'.length)));
  const listed = (await models.suggest('ask', typed)).filter(({ value }) => !ids.has(value));
  return [...special.map(({ name, value }) => ({ name: name.slice(0, 100), value })), ...listed];
}

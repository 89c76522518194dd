/** Chooses the models and dialects of an answer, and whether it has images, thinking or commands. */

import { cannotReadImagesSentence, type ImagePlace } from '../../src/core/attachments.ts';
import type { Autocomplete } from '../../src/core/bot/command.ts';
import type { Context } from '../../src/core/bot/context.ts';
import { UserError } from '../../src/core/errors.ts';
import { joinPlans } from '../../src/core/models/answer-plans.ts';
import { modelNames, parseModelName } from '../../src/core/models/model-name.ts';
import type { AnswersInForce } from '../../src/core/moderation.ts';
import type { AnswerDialect, AnswerPlan, AnswerPlans } from '../../src/core/work.ts';

/** The commands that a model may call while the assistant is on, with their families. */
const TOOLS = { song: 'song', lyrics: 'song', image: 'image', video: 'video', stems: 'song' } as const;

const withTools = ({ families }: Pick<Context, 'families'>) => ({
  type: 'tools' as const,
  commands: Object.entries(TOOLS).flatMap(([command, family]) =>
    families.includes(family) ? [command] : [],
  ),
});

const NO_TOOL_MODEL =
  "Answers may use my commands here, but no suitable model is set. Ask the bot's operator to set TOOL_MODEL, or a moderator to choose a “gen:” model with /models set.";

export interface PlanRequest {
  /** The model option as typed. */
  readonly requestedModel: string | undefined;
  /** An image in the replied-to message is optional: it is dropped if the model cannot see. */
  readonly picture: ImagePlace;
}

/**
 * Resolves a choice of models, each `dialect:id`. Without a dialect, the listing with that id decides. Images use msg, or gen
 * if the model is listed there. Throws UserError if the question has an image and no model takes it.
 */
export async function planAnswer(request: PlanRequest, context: Context): Promise<AnswerPlans> {
  const { toolModel } = context.answerOffer;
  const { assistant } = await context.inForce.answers();
  const { requestedModel } = request;
  const isToolModel = requestedModel === undefined || parseModelName('ask', requestedModel).id === toolModel;
  if (assistant.on && toolModel !== undefined && isToolModel)
    return {
      dialect: 'gen',
      model: toolModel,
      way: { ...withTools(context), ...(requestedModel !== undefined && { named: true }) },
    };

  const names = modelNames(await context.models.resolve('ask', requestedModel));
  const plans = await Promise.all(names.map((name) => planModel(name, request, assistant, context)));
  const [first, ...rest] = plans.filter((plan) => plan !== undefined);
  if (first) return joinPlans(first, rest);
  throw new UserError(cannotReadImagesSentence(parseModelName('ask', names[0] ?? '').id), 'model');
}

/** Undefined if an image is attached and the model takes none. */
async function planModel(
  name: string,
  request: PlanRequest,
  assistant: AnswersInForce['assistant'],
  context: Context,
): Promise<AnswerPlan | undefined> {
  const plan = await visionPlan(name, request, context);
  if (plan?.dialect === 'gen') return genPlan(plan, request, assistant, context);
  const { toolModel } = context.answerOffer;
  const isWithoutToolModel = assistant.on && toolModel === undefined && request.requestedModel === undefined;
  return plan && isWithoutToolModel ? { ...plan, note: NO_TOOL_MODEL } : plan;
}

/** Resolves the dialect, and switches to the vision model for an image that the chosen model cannot see. */
async function visionPlan(
  choice: string,
  { requestedModel, picture }: PlanRequest,
  context: Context,
): Promise<AnswerPlan | undefined> {
  const { id, route: dialect = dialectOf(id, picture, context) } = parseModelName('ask', choice);
  const plan = { dialect, model: id };
  if (dialect !== 'chat') return plan;
  if (context.models.readsImages(id)) return { ...plan, readsImages: true };
  if (picture === 'none') return plan;
  const { visionModel } = context.answerOffer;
  if (requestedModel === undefined && visionModel !== undefined) {
    const vision = parseModelName('ask', await context.models.resolve('ask', visionModel));
    return { dialect: vision.route ?? 'msg', model: vision.id };
  }
  return picture === 'attached' ? undefined : plan;
}

function dialectOf(id: string, picture: ImagePlace, { models, answerOffer }: Context): AnswerDialect {
  const { illustratingModels, thinkingModels } = answerOffer;
  if (illustratingModels.includes(id) || thinkingModels.includes(id)) return 'gen';
  const { dialects } = models;
  const usual = dialects[0] ?? 'chat';
  const listed = models.listedBy(id);
  if (listed.length === 0)
    return picture === 'attached' && !models.readsImages(id) && dialects.includes('msg') ? 'msg' : usual;
  const prefersMsg = picture !== 'none' && !models.readsImages(id);
  if (listed.includes('msg') && (prefersMsg || !listed.includes('chat'))) return 'msg';
  return listed.includes('chat') ? 'chat' : 'gen';
}

/** Adds the mode of a gen model: text, illustrated, thinking, or commands. */
function genPlan(
  plan: AnswerPlan,
  { requestedModel }: PlanRequest,
  assistant: AnswersInForce['assistant'],
  context: Pick<Context, 'answerOffer' | 'families'>,
): AnswerPlan {
  const { answerOffer: offer } = context;
  if (offer.illustratingModels.includes(plan.model)) return { ...plan, way: { type: 'illustrated' } };
  if (offer.thinkingModels.includes(plan.model)) return { ...plan, way: { type: 'thinking' } };
  // Without TOOL_MODEL, only the gen model that moderators chose may call commands.
  const usesCommands = assistant.on && offer.toolModel === undefined && requestedModel === undefined;
  return usesCommands ? { ...plan, way: withTools(context) } : plan;
}

/** Completes the account's models, after the special models of this deployment. */
export const suggestModels: Autocomplete = async ({ typed }, { models, answerOffer }) => {
  const query = typed.trim().toLowerCase();
  const special = [
    ...answerOffer.thinkingModels.map((id) => ({
      name: `${id} (thinking, preview)`,
      value: `gen:${id}`,
    })),
    ...answerOffer.illustratingModels.map((id) => ({ name: `${id} (with images)`, value: `gen:${id}` })),
  ].filter(({ name, value }) => `${name} ${value}`.toLowerCase().includes(query));
  const ids = new Set(special.map(({ value }) => parseModelName('ask', value).id));
  const listed = (await models.suggest('ask', typed)).filter(
    ({ value }) => !ids.has(parseModelName('ask', value).id),
  );
  return [...special, ...listed];
};

/** Which model answers a question, in which dialect, and with what: text, pictures, thinking, or commands. */
import { blindModelSentence, type PicturePlace } from '../../src/core/attachments.ts';
import type { Autocomplete } from '../../src/core/bot/command.ts';
import type { AnswerOffer, Context } from '../../src/core/bot/context.ts';
import { UserError } from '../../src/core/errors.ts';
import { parseModelName } from '../../src/core/model-name.ts';
import type { AnswersInForce } from '../../src/core/moderation.ts';
import type { AnswerDialect, AnswerPlan } from '../../src/core/work.ts';

/** The commands that a model may use, where moderators switched the assistant on. */
const WITH_TOOLS = { type: 'tools', commands: ['song', 'lyrics', 'image', 'video', 'stems'] } as const;

const NO_TOOL_MODEL =
  'Answers may use my commands here, but no model for that is set. The operator can set TOOL_MODEL, or a moderator can choose a gen model';

export interface PlanRequest {
  /** As the person named it. */
  readonly named: string | undefined;
  /** One in the message before the question is looked at where a model can. */
  readonly picture: PicturePlace;
}

/**
 * A choice is `dialect:id`. Without a dialect, the listing that knows the id decides; pictures go by msg, or by gen where
 * the model is there. Throws UserError when a picture was sent to a model that takes none.
 */
export async function planAnswer(request: PlanRequest, context: Context): Promise<AnswerPlan> {
  const { toolModel } = context.answerOffer;
  const { assistant } = await context.inForce.answers();
  const { named } = request;
  const isToolModel = named === undefined || parseModelName('ask', named).id === toolModel;
  if (assistant.on && toolModel !== undefined && isToolModel)
    return {
      dialect: 'gen',
      model: toolModel,
      way: { ...WITH_TOOLS, ...(named !== undefined && { named: true }) },
    };

  const plan = await seeingPlan(await context.models.resolve('ask', named), request, context);
  if (plan.dialect === 'gen') return genPlan(plan, request, { assistant, offer: context.answerOffer });
  const isMissing = assistant.on && toolModel === undefined && named === undefined;
  return isMissing ? { ...plan, note: NO_TOOL_MODEL } : plan;
}

/** The choice in its dialect; where there are pictures and the model cannot see, the model that can. */
async function seeingPlan(
  choice: string,
  { named, picture }: PlanRequest,
  context: Context,
): Promise<AnswerPlan> {
  const { id, route: dialect = dialectOf(id, picture, context) } = parseModelName('ask', choice);
  if (picture === 'none' || dialect !== 'chat') return { dialect, model: id };
  const { visionModel } = context.answerOffer;
  if (named === undefined && visionModel !== undefined) {
    const seeing = parseModelName('ask', await context.models.resolve('ask', visionModel));
    return { dialect: seeing.route ?? 'msg', model: seeing.id };
  }
  if (picture === 'attached') throw new UserError(blindModelSentence(id), 'model');
  return { dialect, model: id };
}

function dialectOf(id: string, picture: PicturePlace, { models, answerOffer }: Context): AnswerDialect {
  const { illustratingModels, thinkingModels } = answerOffer;
  if (illustratingModels.includes(id) || thinkingModels.includes(id)) return 'gen';
  const listed = models.listedBy(id);
  const mayTry = picture === 'attached' && listed.length === 0;
  if (picture !== 'none') return listed.includes('msg') || mayTry ? 'msg' : 'chat';
  return listed.includes('msg') && !listed.includes('chat') ? 'msg' : 'chat';
}

/** What a gen model is asked for: text, text and pictures, thinking, or the use of commands. */
function genPlan(
  plan: AnswerPlan,
  { named }: PlanRequest,
  { assistant, offer }: { readonly assistant: AnswersInForce['assistant']; readonly offer: AnswerOffer },
): AnswerPlan {
  if (offer.illustratingModels.includes(plan.model)) return { ...plan, way: { type: 'illustrated' } };
  if (offer.thinkingModels.includes(plan.model)) return { ...plan, way: { type: 'thinking' } };
  // Without a model of its own for that, the gen model that moderators chose uses the commands, and no other.
  const usesCommands = assistant.on && offer.toolModel === undefined && named === undefined;
  return usesCommands ? { ...plan, way: WITH_TOOLS } : plan;
}

/** Completions: the account's models, and before them what only some deployments have. */
export const suggestModels: Autocomplete = async ({ typed }, { models, answerOffer }) => {
  const wanted = typed.trim().toLowerCase();
  const special = [
    ...answerOffer.thinkingModels.map((id) => ({
      name: `${id} (thinking, preview)`,
      value: `gen:${id}`,
    })),
    ...answerOffer.illustratingModels.map((id) => ({ name: `${id} (with images)`, value: `gen:${id}` })),
  ].filter(({ name, value }) => `${name} ${value}`.toLowerCase().includes(wanted));
  const ids = new Set(special.map(({ value }) => parseModelName('ask', value).id));
  const listed = (await models.suggest('ask', typed)).filter(
    ({ value }) => !ids.has(parseModelName('ask', value).id),
  );
  return [...special, ...listed];
};

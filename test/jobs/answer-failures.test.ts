/** Every documented way in which a question or an image of a language model fails: the text, whether it was paid for, and the requests. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StartRequest } from '../../src/core/bot/start-request.ts';
import { GatewayError } from '../../src/gateway/transport/errors.ts';
import { anthropicError, anthropicMessage } from '../servers/public/anthropic.ts';
import { googleError, googleResponse } from '../servers/public/google.ts';
import { openAiError, openAiStream } from '../servers/public/openai.ts';
import { event, type Service, type ServiceAnswer } from '../servers/public/service.ts';
import { openPublicWorld, type PublicWorld } from './public-world.ts';

let open: PublicWorld;
beforeEach(async () => {
  open = await openPublicWorld();
});
afterEach(() => open[Symbol.asyncDispose]());

const turns = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'Why is rain grey?' }] }];
const WORK = {
  chat: { route: 'answer', dialect: 'chat', request: { model: 'gpt-4o', turns } },
  msg: { route: 'answer', dialect: 'msg', request: { model: 'claude-sonnet-5', turns } },
  gen: { route: 'answer', dialect: 'gen', request: { model: 'gemini-2.5-flash', turns } },
  image: { route: 'gen.image', request: { model: 'gemini-2.5-flash-image', turns } },
} as const satisfies Record<string, StartRequest['work']>;
type AskRoute = keyof typeof WORK;

const serviceOf = (asking: AskRoute): Service => open.services[asking === 'image' ? 'gen' : asking];

/** Answers every request with this, and resolves to the end of the job. */
async function endWith(asking: AskRoute, answer: ServiceAnswer) {
  const service = serviceOf(asking);
  for (let times = 0; times < 8; times += 1) service.next('', answer);
  const job = await open.run(WORK[asking]);
  const { footer } = open.world.message() ?? {};
  const note = footer
    ?.split(' · ')
    .filter((part) => !/tokens in, |^[\w.-]+$|^Reference|^Requested/.test(part));
  const reads = [await open.endOf(job), ...(note?.filter(Boolean) ?? [])].join(' | ');
  return { reads, requests: service.accepted.length };
}

/** One request reaches the service by default. */
type Way = readonly [way: string, answer: ServiceAnswer, reads: string, requests?: number];

const AUTH =
  "free: The service rejected this bot's key. Ask the bot's operator to check it, then press Again.";
const CREDITS = "free: The service is out of credits. Ask the bot's operator to top it up, then press Again.";
const RATE = 'free: The service is too busy right now. Press Again in a few minutes.';
const NO_MODEL =
  "free: The service doesn't offer this model through this interface. Choose another model, or put “msg:” or “gen:” before this one's ID, as in “msg:some-id”.";
const FORBIDDEN = "free: The service doesn't allow this bot to use this model. Try another one.";
const TOO_LONG =
  'free: The question is too long for this model, even without the earlier messages. Shorten it, or choose another model.';
const BLOCKED = 'free: The service declined this because of its content rules. Rephrase it and try again.';
const INVALID = 'free: The service rejected this request. Change it and try again.';
const UNAVAILABLE =
  'free: The service is unavailable right now. Nothing was spent. Press Again in a few minutes.';
const UNCERTAIN =
  "uncertain: The service reported an error, so I don't know whether it accepted this request. To be safe, I didn't send it twice. Pressing Again sends a new request, which may be charged too.";
const TIMEOUT =
  "uncertain: The service took too long to answer, so I don't know whether it accepted this request. To be safe, I didn't send it twice. Pressing Again sends a new request, which may be charged too.";
const EMPTY = "uncertain: The model's answer was empty. Press Again, or rephrase your question.";
const CUT = 'paid: Half | The answer was cut off here. Press Again for a complete one.';
const LIMIT = 'paid: Half | The answer reached the length limit. Ask me to continue.';
const LIMIT_FIRST = 'paid: The model reached its length limit before it wrote anything. Try another model.';
/** A response of Gemini without content. */
const stoppedBy = (reason: string) => ({
  candidates: [{ content: {}, finishReason: reason.toUpperCase().replaceAll(' ', '_'), index: 0 }],
});

/** Errors of both of Google's routes: https://ai.google.dev/gemini-api/docs/troubleshooting. */
const GOOGLE: readonly Way[] = [
  [
    'a wrong key',
    googleError(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
      { reason: 'API_KEY_INVALID' },
    ]),
    AUTH,
  ],
  [
    'a key without rights',
    googleError(403, 'PERMISSION_DENIED', "Your API key doesn't have the required permissions."),
    FORBIDDEN,
  ],
  [
    'a leaked key',
    googleError(403, 'PERMISSION_DENIED', 'Your API key was reported as leaked. Please use another API key.'),
    AUTH,
  ],
  [
    'a country without service',
    googleError(400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.'),
    FORBIDDEN,
  ],
  [
    'a rate limit',
    googleError(
      429,
      'RESOURCE_EXHAUSTED',
      'You exceeded your current quota, please check your plan and billing details.',
      [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7s' }],
    ),
    RATE,
    5,
  ],
  ['no credits', googleError(402, 'RESOURCE_EXHAUSTED', 'Your prepayment credits are depleted.'), CREDITS],
  [
    'another bad request',
    googleError(400, 'INVALID_ARGUMENT', 'Please use a valid role: user, model.'),
    INVALID,
  ],
  [
    'a server error',
    googleError(500, 'INTERNAL', 'An internal error has occurred. Please retry or report.'),
    UNCERTAIN,
  ],
  [
    'an overloaded model',
    googleError(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
    UNAVAILABLE,
    5,
  ],
  ['a deadline', googleError(504, 'DEADLINE_EXCEEDED', 'The request timed out. Please try again.'), TIMEOUT],
];

const WAYS: Readonly<Record<AskRoute, readonly Way[]>> = {
  // https://platform.openai.com/docs/guides/error-codes
  chat: [
    [
      'a wrong key',
      openAiError(401, 'Incorrect API key provided: sk-wr***ng.', { code: 'invalid_api_key' }),
      AUTH,
    ],
    [
      'a country without service',
      openAiError(403, 'Country, region, or territory not supported', {
        code: 'unsupported_country_region_territory',
        type: 'request_forbidden',
      }),
      FORBIDDEN,
    ],
    [
      'an unknown model',
      openAiError(404, 'The model `gpt-4o` does not exist or you do not have access to it.', {
        code: 'model_not_found',
      }),
      NO_MODEL,
    ],
    [
      'a model for something else',
      openAiError(
        404,
        'This is not a chat model and thus not supported in the v1/chat/completions endpoint.',
        { param: 'model' },
      ),
      NO_MODEL,
    ],
    [
      'no quota',
      openAiError(429, 'You exceeded your current quota, please check your plan and billing details.', {
        type: 'insufficient_quota',
        code: 'insufficient_quota',
      }),
      CREDITS,
    ],
    [
      'a rate limit',
      openAiError(
        429,
        'Rate limit reached for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000. Please try again in 1.2s.',
        { type: 'tokens', code: 'rate_limit_exceeded' },
      ),
      RATE,
      5,
    ],
    [
      'credits that ran out at OpenRouter',
      openAiError(402, 'Insufficient credits. Add more using https://openrouter.ai/settings/credits'),
      CREDITS,
    ],
    [
      'a moderated question at OpenRouter',
      openAiError(403, 'Your chosen model requires moderation and your input was flagged'),
      BLOCKED,
    ],
    [
      'a question too long',
      openAiError(
        400,
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
        { code: 'context_length_exceeded' },
      ),
      TOO_LONG,
    ],
    [
      'a blocked question',
      openAiError(400, 'Invalid prompt: your prompt was flagged as potentially violating our usage policy.', {
        code: 'invalid_prompt',
      }),
      BLOCKED,
    ],
    [
      'images that the model cannot read',
      openAiError(400, 'Invalid content type. image_url is only supported by certain models.', {
        param: 'messages.[0].content.[1].type',
      }),
      "free: This model can't read images. Ask without images, or choose another model.",
    ],
    [
      'another bad request',
      openAiError(400, "Invalid value for 'messages.0.name'.", { code: 'invalid_value' }),
      INVALID,
    ],
    [
      'a server error',
      openAiError(500, 'The server had an error while processing your request. Sorry about that!', {
        type: 'server_error',
      }),
      UNCERTAIN,
    ],
    [
      'an overloaded server',
      openAiError(503, 'The engine is currently overloaded, please try again later', {
        type: 'server_error',
        code: 'service_unavailable',
      }),
      UNAVAILABLE,
      5,
    ],
    [
      'no channel at one-api',
      openAiError(503, 'No available channel for model gpt-4o under group default'),
      NO_MODEL,
    ],
    [
      'an error before the first word',
      { chunks: [event({ error: { message: 'The server had an error.', type: 'server_error' } })] },
      UNCERTAIN,
    ],
    [
      'an error after words',
      {
        chunks: [
          ...openAiStream(['Half']).slice(0, 2),
          event({ error: { message: 'The server had an error.', type: 'server_error' } }),
        ],
      },
      CUT,
    ],
    [
      'a stream that ends before the first word',
      { chunks: openAiStream(['Half']).slice(0, 1) },
      'uncertain: The answer was cut off before the first word. Press Again to retry.',
    ],
    ['a stream that ends after words', { chunks: openAiStream(['Half']).slice(0, 2) }, CUT],
    ['an empty answer', { chunks: openAiStream([]) }, EMPTY],
    [
      'a filter before the first word',
      { chunks: openAiStream([], { finish: 'content_filter' }) },
      'paid: The content filter blocked this. Rephrase your question.',
    ],
    [
      'a filter after words',
      { chunks: openAiStream(['Half'], { finish: 'content_filter' }) },
      'paid: Half | The content filter stopped the answer here. Rephrase your question.',
    ],
    ['a limit before the first word', { chunks: openAiStream([], { finish: 'length' }) }, LIMIT_FIRST],
    ['a limit after words', { chunks: openAiStream(['Half'], { finish: 'length' }) }, LIMIT],
  ],
  // https://platform.claude.com/docs/en/api/errors
  msg: [
    ['a wrong key', anthropicError(401, 'authentication_error', 'invalid x-api-key'), AUTH],
    [
      'a key without rights',
      anthropicError(
        403,
        'permission_error',
        'Your API key does not have permission to use the specified resource.',
      ),
      FORBIDDEN,
    ],
    ['an unknown model', anthropicError(404, 'not_found_error', 'model: claude-9'), NO_MODEL],
    [
      'no credits',
      anthropicError(
        400,
        'invalid_request_error',
        'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
      ),
      CREDITS,
    ],
    [
      'a billing problem',
      anthropicError(402, 'billing_error', 'There is an issue with your billing or payment information.'),
      CREDITS,
    ],
    [
      'a rate limit',
      anthropicError(
        429,
        'rate_limit_error',
        'This request would exceed the rate limit for your organization.',
        { 'retry-after': '7' },
      ),
      RATE,
      5,
    ],
    [
      'a question too long',
      anthropicError(400, 'invalid_request_error', 'prompt is too long: 205000 tokens > 200000 maximum'),
      TOO_LONG,
    ],
    [
      'a request too large',
      anthropicError(413, 'request_too_large', 'Request exceeds the maximum size'),
      TOO_LONG,
    ],
    [
      'an image too large',
      anthropicError(
        400,
        'invalid_request_error',
        'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes',
      ),
      INVALID,
    ],
    [
      'another bad request',
      anthropicError(400, 'invalid_request_error', 'messages: at least one message is required'),
      INVALID,
    ],
    [
      'a blocked question',
      anthropicError(400, 'invalid_request_error', 'Output blocked by content filtering policy'),
      BLOCKED,
    ],
    ['a server error', anthropicError(500, 'api_error', 'Internal server error'), UNCERTAIN],
    ['a timeout', anthropicError(504, 'timeout_error', 'The request timed out while processing.'), TIMEOUT],
    ['an overloaded server', anthropicError(529, 'overloaded_error', 'Overloaded'), UNAVAILABLE, 5],
    ['an empty answer', { body: anthropicMessage([]) }, EMPTY],
    [
      'a refusal',
      { body: anthropicMessage([], { stop_reason: 'refusal' }) },
      'paid: The model declined to answer this. Rephrase your question, or choose another model.',
    ],
    [
      'a refusal after words',
      { body: anthropicMessage([{ type: 'text', text: 'Half' }], { stop_reason: 'refusal' }) },
      'paid: Half | The model declined to continue. Rephrase your question, or choose another model.',
    ],
    [
      'a limit before the first word',
      { body: anthropicMessage([], { stop_reason: 'max_tokens' }) },
      LIMIT_FIRST,
    ],
    [
      'a limit after words',
      { body: anthropicMessage([{ type: 'text', text: 'Half' }], { stop_reason: 'max_tokens' }) },
      LIMIT,
    ],
    [
      'a full context',
      {
        body: anthropicMessage([{ type: 'text', text: 'Half' }], {
          stop_reason: 'model_context_window_exceeded',
        }),
      },
      LIMIT,
    ],
  ],
  // https://ai.google.dev/api/generate-content#FinishReason
  gen: [
    ...GOOGLE,
    [
      'an unknown model',
      googleError(
        404,
        'NOT_FOUND',
        'models/gemini-9 is not found for API version v1beta, or is not supported for streamGenerateContent.',
      ),
      NO_MODEL,
    ],
    [
      'a question too long',
      googleError(
        400,
        'INVALID_ARGUMENT',
        'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
      ),
      TOO_LONG,
    ],
    [
      'a web page',
      {
        status: 404,
        headers: { 'content-type': 'text/html' },
        body: '<!DOCTYPE html><html lang=en><title>Error 404 (Not Found)!!1</title></html>',
      },
      "free: The service's address leads to a web page, not to the service. Ask the bot's operator to check the address.",
    ],
    [
      'a blocked question',
      {
        chunks: [
          event({
            promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
            usageMetadata: { promptTokenCount: 7 },
          }),
        ],
      },
      'paid: The content filter blocked this (prohibited content). Rephrase your question.',
    ],
    [
      'a filter before the first word',
      { chunks: [event({ candidates: [{ finishReason: 'SAFETY', index: 0 }] })] },
      'paid: The content filter blocked this (safety). Rephrase your question.',
    ],
    [
      'a recitation after words',
      {
        chunks: [
          event(googleResponse([{ text: 'Half' }])),
          event(googleResponse([], { finishReason: 'RECITATION' })),
        ],
      },
      'paid: Half | The content filter stopped the answer here (recitation). Rephrase your question.',
    ],
    [
      'a limit before the first word',
      {
        chunks: [
          event({ candidates: [{ content: { role: 'model' }, finishReason: 'MAX_TOKENS', index: 0 }] }),
        ],
      },
      LIMIT_FIRST,
    ],
    [
      'a malformed call',
      {
        chunks: [event(stoppedBy('malformed function call'))],
      },
      'paid: The model gave no answer (malformed function call). Press Again, or rephrase your question.',
    ],
    ['an empty answer', { chunks: [event(googleResponse([{ text: '' }], { finishReason: 'STOP' }))] }, EMPTY],
    [
      'an error before the first word',
      {
        chunks: [event({ error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } })],
      },
      UNCERTAIN,
    ],
    ['a stream that ends after words', { chunks: [event(googleResponse([{ text: 'Half' }]))] }, CUT],
  ],
  image: [
    ...GOOGLE,
    [
      'a country without images',
      googleError(400, 'FAILED_PRECONDITION', 'Image generation is not available in your country'),
      FORBIDDEN,
    ],
    [
      'an unknown model',
      googleError(
        404,
        'NOT_FOUND',
        'models/gemini-9 is not found for API version v1beta, or is not supported for generateContent.',
      ),
      'free: The service no longer has this model or song. Choose another.',
    ],
    [
      'a model without images',
      googleError(
        400,
        'INVALID_ARGUMENT',
        'The requested combination of response modalities (TEXT, IMAGE) is not supported by the model. models/gemini-2.5-flash accepts the following combination of response modalities:\n* TEXT\n',
      ),
      "free: This model can't create images. Choose another model.",
    ],
    [
      'a long rate limit',
      googleError(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.', [{ retryDelay: '3600s' }]),
      'free: The service is too busy right now. It asks me to wait until 14 Nov 2023, 23:13 UTC (about 60 minutes). Nothing was spent. Press Again after that.',
    ],
    [
      'a blocked prompt',
      { body: { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } } },
      'paid: The content filter blocked this (prohibited content). Rephrase your question.',
    ],
    ...['image safety', 'image prohibited content', 'image recitation', 'prohibited content', 'safety'].map(
      (reason): Way => [
        reason,
        { body: stoppedBy(reason) },
        `paid: The content filter blocked this (${reason}). Rephrase your question.`,
      ],
    ),
    ...['no image', 'image other'].map(
      (reason): Way => [
        reason,
        { body: stoppedBy(reason) },
        `paid: The model gave no answer (${reason}). Press Again, or rephrase your question.`,
      ],
    ),
    ['a limit before the image', { body: stoppedBy('max tokens') }, LIMIT_FIRST],
    [
      'words only',
      { body: googleResponse([{ text: 'I cannot draw that.' }], { finishReason: 'STOP' }) },
      'paid: I cannot draw that\\.',
    ],
    [
      'an empty answer',
      { body: googleResponse([], { finishReason: 'STOP' }) },
      "uncertain: The service answered without a result. It may charge for this, so I didn't ask twice. Pressing Again sends a new request, which may be charged too.",
    ],
  ],
};

describe.each(['chat', 'msg', 'gen', 'image'] as const)('on %s', (asking) => {
  it.for(WAYS[asking])('%s has a true text', async ([, answer, reads, requests = 1]) => {
    expect(await endWith(asking, answer)).toEqual({ reads, requests });
    expect(serviceOf(asking).refused).toEqual([]);
  });
});

it.each([
  ['chat', openAiError(401, 'Incorrect API key.', { code: 'invalid_api_key' }), 'invalid_api_key'],
  ['msg', anthropicError(529, 'overloaded_error', 'Overloaded'), 'overloaded_error'],
  ['image', googleError(400, 'FAILED_PRECONDITION', 'Not here.'), 'FAILED_PRECONDITION'],
] as const)('the log has the code of a failure on %s', async (asking, answer, gatewayCode) => {
  await endWith(asking, answer);
  const codes = open.world.log.lines.map(({ fields }) =>
    'err' in fields && fields.err instanceof GatewayError ? fields.err.gatewayCode : undefined,
  );
  expect(codes).toContain(gatewayCode);
});

/** Each refusal is a request, and the model refuses once. */
describe('a limit of the answer that a model refuses', () => {
  it.each([
    ['chat', 'gpt-5-mini', 4_096, { max_completion_tokens: 4_096 }],
    ['chat', 'gpt-3.5-turbo', 8_192, { max_tokens: 4_096 }],
    ['msg', 'claude-3-haiku-20240328', 8_192, { max_tokens: 4_096 }],
  ] as const)('is changed once: %s %s', async (dialect, model, maxTokens, sent) => {
    const service = serviceOf(dialect);
    for (const requests of [1, 2]) {
      const job = await open.run({ route: 'answer', dialect, request: { model, turns, maxTokens } });
      expect(await open.world.read(job)).toMatchObject({ state: 'delivered' });
      expect(open.world.message()?.text).toContain('Answer 1 to');
      expect(service.accepted).toHaveLength(requests);
      expect(service.refused).toHaveLength(1);
    }
    expect(service.accepted.at(-1)?.body).toMatchObject(sent);
  });
});

import { describe, expect, it } from 'vitest';
import { answer, errorOf, gatewayAt, QUESTION, startServer, wholeOf } from './support.ts';

/** Answers of public services that the contract does not show. Each case cites their documentation or a report. */

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

/** Returns the answer of the chat route for a stream of chunks. */
async function chatAnswer(...chunks: readonly string[]) {
  const { url } = await startServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`${chunks.join('')}data: [DONE]\n\n`);
  });
  return await wholeOf(gatewayAt(url).gateway.chat.stream(QUESTION));
}

const genAnswer = async (body: object) => {
  const { url } = await startServer((_, response) => answer(response, body));
  return await gatewayAt(url).gateway.gen.generateImage(QUESTION);
};

describe('reasoning within the text', () => {
  // https://github.com/vllm-project/vllm/blob/main/docs/features/reasoning_outputs.md
  it.each([
    ['in one chunk', ['<think>Rain…</think>\n\nBecause.']],
    ['in chunks that cut the tags', ['<th', 'ink>Rain', '…</thi', 'nk>', '\nBecause', '.']],
    ['of another name', ['\n<reasoning>Rain…</reasoning>Because.']],
  ])('is not shown: %s', async (_, texts) => {
    const chunks = texts.map((content) => chunk({ content }));
    const { parts } = await chatAnswer(...chunks, chunk({}, 'stop'));
    const textOf = (type: string) =>
      parts.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('');
    expect(textOf('text')).toBe('Because.');
    expect(textOf('thought')).toBe('Rain…');
  });

  it.each(['<', '<thunder> is loud', 'a <think> b', '<think'])('is not mistaken for: %s', async (content) => {
    const { parts } = await chatAnswer(chunk({ content }), chunk({}, 'stop'));
    expect(parts).toEqual([{ type: 'text', text: content }]);
  });
});

describe('finish reasons of other vendors', () => {
  it.each([
    ['end_turn', 'stop'],
    ['STOP', 'stop'],
    ['eos', 'stop'],
    ['end', 'stop'],
    ['stop_sequence', 'stop'],
    ['SAFETY', 'blocked'],
    ['sensitive', 'blocked'],
    ['content_filter', 'blocked'],
    ['refusal', 'refused'],
    ['MAX_TOKENS', 'length'],
    ['max_output_tokens', 'length'],
  ])('%s is %s', async (word, reason) => {
    const { finish } = await chatAnswer(chunk({ content: 'Rain.' }, word));
    expect(finish).toMatchObject({ reason });
  });
});

describe('images in answers', () => {
  const DATA = Buffer.from('png').toString('base64');
  const image = { type: 'image', mimeType: 'image/png', data: DATA };

  it('are separate parts, or Markdown with a data URL', async () => {
    const url = `data:image/png;base64,${DATA}`;
    // https://openrouter.ai/docs/features/multimodal/image-generation
    const beside = chunk({ content: 'Here:', images: [{ type: 'image_url', image_url: { url } }] });
    expect((await chatAnswer(beside, chunk({}, 'stop'))).parts).toEqual([
      { type: 'text', text: 'Here:' },
      image,
    ]);
    const written = chunk({ content: `Here: ![a fox](${url}) Done.` });
    expect((await chatAnswer(written, chunk({}, 'stop'))).parts).toEqual([
      { type: 'text', text: 'Here: ' },
      image,
      { type: 'text', text: ' Done.' },
    ]);
  });

  const MARKDOWN = `Here [1]: ![a fox](data:image/png;base64,${DATA}) Done!`;
  it.each([1, 2, 3, 7, 40])('are found in Markdown that arrives in pieces of %s', async (size) => {
    const pieces = MARKDOWN.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
    const { parts } = await chatAnswer(...pieces.map((content) => chunk({ content })), chunk({}, 'stop'));
    expect(parts).toEqual([{ type: 'text', text: 'Here [1]: ' }, image, { type: 'text', text: ' Done!' }]);
  });

  it.each(['Wow!', 'a ![', 'see [1', '[x](data:', '![a](https://files.example/a.png)', '[a](b) [c'])(
    'are not mistaken for %j at the end of a stream, with or without a finish reason',
    async (text) => {
      const pieces = [...text].map((content) => chunk({ content }));
      for (const end of [[], [chunk({}, 'stop')]])
        expect((await chatAnswer(...pieces, ...end)).parts).toEqual([{ type: 'text', text }]);
    },
  );

  it('leave a note if the answer ends within one', async () => {
    const { parts } = await chatAnswer(chunk({ content: MARKDOWN.slice(0, 40) }), chunk({}, 'length'));
    expect(parts).toEqual([{ type: 'text', text: expect.stringContaining("image that I can't show") }]);
  });

  it('leave a note if they cannot be shown', async () => {
    const images = [{ type: 'image_url', image_url: { url: 'data:nothing' } }];
    const { parts } = await chatAnswer(chunk({ content: 'Here:', images }, 'stop'));
    expect(parts).toContainEqual({ type: 'text', text: expect.stringContaining("image that I can't show") });
  });

  it('do not include drafts of a model that thinks in images', async () => {
    // https://ai.google.dev/gemini-api/docs/image-generation
    const inlineData = { mimeType: 'image/png', data: DATA };
    const parts = [{ thought: true, inlineData }, { text: 'A fox.' }, { inlineData }];
    const { parts: shown } = await genAnswer({ candidates: [{ content: { parts }, finishReason: 'STOP' }] });
    expect(shown).toEqual([{ type: 'text', text: 'A fox.' }, image]);
  });

  it('are a link if the answer contains a file URI', async () => {
    const fileData = { mimeType: 'image/png', fileUri: 'https://files.example/fox.png' };
    const { parts } = await genAnswer({
      candidates: [{ content: { parts: [{ fileData }] }, finishReason: 'STOP' }],
    });
    expect(parts).toEqual([
      { type: 'text', text: expect.stringContaining('(https://files.example/fox.png)') },
    ]);
  });

  it.each([
    ['IMAGE_SAFETY', 'blocked'],
    ['PROHIBITED_CONTENT', 'blocked'],
    ['NO_IMAGE', 'other'],
    ['IMAGE_OTHER', 'other'],
  ])('that are missing have a reason: %s', async (finishReason, reason) => {
    const { finish } = await genAnswer({ candidates: [{ content: { parts: [] }, finishReason }] });
    expect(finish).toEqual({ reason, detail: finishReason });
  });

  it.each([
    ['a Markdown image', { text: 'Here: ![a fox](https://files.example/fox.png) and ![' }],
    ['a URL', { image: 'https://files.example/fox.png' }],
    ['a data URL', { image: `data:image/png;base64,${DATA}` }],
    ['a Markdown image with a data URL', { text: `![a fox](data:image/png;base64,${DATA})` }],
  ])('are found on the media route in %s', async (_, content) => {
    const { url } = await startServer((__, response) =>
      answer(response, { output: { choices: [{ message: { role: 'assistant', content: [content] } }] } }),
    );
    const { images } = await gatewayAt(url).gateway.media.createImage({ model: 'canvas', prompt: 'a fox' });
    const isData = JSON.stringify(content).includes('data:image');
    expect(images).toEqual([isData ? `data:image/png;base64,${DATA}` : 'https://files.example/fox.png']);
  });

  it.each(['no image', '![](javascript:alert(1))', '![](data:text/html;base64,AAAA)', '![a](', '![a] (b)'])(
    'are not found on the media route in %j',
    async (text) => {
      const { url } = await startServer((_, response) =>
        answer(response, { output: { choices: [{ message: { content: [{ text }] } }] } }),
      );
      const { media } = gatewayAt(url).gateway;
      const error = await errorOf(media.createImage({ model: 'canvas', prompt: 'a fox' }));
      expect(error).toMatchObject({ code: 'nonsense', taken: 'unknown' });
    },
  );
});

describe('a field that a model refuses', () => {
  const refusals = [
    {
      name: 'max_tokens, replaced by its successor',
      refuses: (body: Record<string, unknown>) => 'max_tokens' in body,
      // https://platform.openai.com/docs/guides/reasoning
      message:
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      sent: { max_completion_tokens: 4096 },
    },
    {
      name: 'a limit above the one in the refusal',
      refuses: ({ max_tokens }: Record<string, unknown>) => Number(max_tokens) > 2048,
      message: 'max_tokens: 4096 > 2048, which is the maximum allowed number of output tokens',
      sent: { max_tokens: 2048 },
    },
    {
      name: 'a bound that is too large, without a number',
      refuses: ({ max_tokens }: Record<string, unknown>) => max_tokens !== undefined,
      message: 'max_tokens is too large',
      sent: {},
    },
    {
      name: 'stream_options',
      refuses: (body: Record<string, unknown>) => 'stream_options' in body,
      message: 'Unrecognized request argument supplied: stream_options',
      sent: { max_tokens: 4096 },
    },
  ];

  it.each(refusals)('is changed and not sent again: $name', async ({ refuses, message, sent }) => {
    const { url, received } = await startServer(({ body }, response) => {
      if (refuses(body as Record<string, unknown>))
        return answer(response, { error: { message, type: 'invalid_request_error' } }, { status: 400 });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`${chunk({ content: 'Rain.' }, 'stop')}data: [DONE]\n\n`);
    });
    const { gateway } = gatewayAt(url);
    const question = { ...QUESTION, maxTokens: 4096 };
    for (const requests of [2, 3]) {
      expect((await wholeOf(gateway.chat.stream(question))).parts).toEqual([{ type: 'text', text: 'Rain.' }]);
      expect(received).toHaveLength(requests);
    }
    const {
      messages: _,
      model: __,
      stream: ___,
      stream_options: ____,
      ...fields
    } = (received.at(-1)?.body ?? {}) as Record<string, unknown>;
    expect(fields).toEqual(sent);
  });

  it('lowers the limit of the messages route, which requires one', async () => {
    const { url, received } = await startServer(({ body }, response) => {
      const { max_tokens } = body as { max_tokens: number };
      if (max_tokens <= 2048)
        return answer(response, { content: [{ type: 'text', text: 'Rain.' }], stop_reason: 'end_turn' });
      const message =
        'max_tokens: 4096 > 2048, which is the maximum allowed number of output tokens for this model';
      answer(response, { type: 'error', error: { type: 'invalid_request_error', message } }, { status: 400 });
    });
    expect(await gatewayAt(url).gateway.msg.complete(QUESTION)).toMatchObject({ finish: { reason: 'stop' } });
    expect(received).toHaveLength(2);
  });
});

describe('refusals have the right code', () => {
  it.each([
    // https://api-docs.deepseek.com/quick_start/error_codes
    [400, 'Model Not Exist', 'not-found'],
    [400, 'This model does not support image input', 'no-images'],
    [400, 'Invalid content type. image_url is only supported by certain models.', 'no-images'],
    [400, 'Output blocked by content filtering policy', 'blocked'],
    [403, 'Your API key was reported as leaked. Please use another API key.', 'auth'],
    [400, 'User location is not supported for the API use.', 'forbidden'],
    [403, 'Your request was rejected: it violates our content policy', 'blocked'],
    [400, 'The film credits in your text are malformed', 'invalid'],
    [400, 'Insufficient credits to complete this request', 'credits'],
    // https://github.com/songquanpeng/one-api
    [503, 'No available channel for model gpt-x under group default', 'not-found'],
    [503, '当前分组 default 下对于模型 gpt-x 无可用渠道', 'not-found'],
  ])('%s “%s” is %s', async (status, message, code) => {
    const { url, received } = await startServer((_, response) =>
      answer(response, { error: { message } }, { status }),
    );
    const error = await errorOf(wholeOf(gatewayAt(url).gateway.chat.stream(QUESTION)));
    expect(error).toMatchObject({ code, taken: 'no', retryable: false });
    expect(received).toHaveLength(1);
  });
});

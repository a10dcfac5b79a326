/** A local server that speaks the documented protocol of the hosted judge, and its failures. */
import { once } from 'node:events';
import { createServer } from 'node:http';

/**
 * @param answer - given a request `{ headers, body, at }`, what to do: `{ noul(id) }` answers every question,
 *   `{ status, headers, body }` refuses, `{ hang: true }` never answers, `{ text }` sends what is no JSON.
 * @returns a promise of `{ url, requests, close() }`.
 */
export async function startJev(answer) {
  const requests = [];
  const open = new Set();
  const server = createServer(async (incoming, response) => {
    let text = '';
    for await (const chunk of incoming.setEncoding('utf8')) text += chunk;
    const request = {
      path: incoming.url,
      method: incoming.method,
      headers: incoming.headers,
      body: JSON.parse(text),
      time: Date.now(),
    };
    requests.push(request);
    const step = answer({ ...request, at: requests.length - 1 });
    if (step.hang) {
      open.add(response);
      return;
    }
    if (step.text !== undefined) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(step.text);
      return;
    }
    if (step.status !== undefined) {
      response
        .writeHead(step.status, { 'x-typesafe-request-id': `req-${requests.length}`, ...step.headers })
        .end(step.body ?? JSON.stringify({ error: 'scripted' }));
      return;
    }
    const answers = Object.fromEntries(
      Object.keys(request.body.questions)
        .map((id) => [id, step.noul(id)])
        .filter(([, noul]) => noul !== undefined)
        .map(([id, noul]) => [id, { type: 'noul', noul }]),
    );
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ model: 'jev-test', answers, usage: { input_tokens: 1, output_tokens: 1 } }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    async close() {
      for (const response of open) response.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

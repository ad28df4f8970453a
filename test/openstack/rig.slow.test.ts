import { afterAll, describe, expect, it } from 'vitest';
import { missing, type Rig, startRig } from './rig.ts';

const reason = missing();
if (reason !== undefined) console.log(`SKIPPED, ${reason}`);

interface Endpoint {
  interface: string;
  url: string;
}

/** Returns a token of the administrator, and where each service is. */
async function signIn({ authUrl, admin }: Rig): Promise<{ token: string; catalog: Map<string, string> }> {
  const domain = { id: admin.domain };
  const user = { name: admin.username, password: admin.password, domain };
  const scope = { project: { name: admin.project, domain } };
  const response = await fetch(`${authUrl}/auth/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ auth: { identity: { methods: ['password'], password: { user } }, scope } }),
  });
  expect(response.status).toBe(201);
  const { token } = (await response.json()) as { token: { catalog: { type: string; endpoints: Endpoint[] }[] } };
  const url = (endpoints: Endpoint[]) => endpoints.find((each) => each.interface === 'public')?.url ?? '';
  const catalog = new Map(token.catalog.map(({ type, endpoints }) => [type, url(endpoints)] as const));
  return { token: response.headers.get('x-subject-token') ?? '', catalog };
}

/** Returns what a service answers. */
async function ask(method: string, url: string, token: string, body?: object) {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', 'x-auth-token': token },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

describe.skipIf(reason)('the real OpenStack', { timeout: 900_000 }, () => {
  let rig: Rig | undefined;
  afterAll(() => rig?.stop());

  it('keeps what is in it from one start to the next, and brings a killed service back', async () => {
    rig = await startRig();
    const first = await signIn(rig);
    expect([...first.catalog.keys()].sort()).toEqual([
      ...['compute', 'identity', 'image', 'network', 'placement', 'volumev3'],
    ]);
    for (const url of first.catalog.values()) {
      const { status, body } = await ask('GET', new URL('/', url).href, first.token);
      // Some answer with 300 Multiple Choices.
      expect([status, body.versions]).toEqual([expect.toSatisfy((code) => code <= 300), expect.anything()]);
    }
    const networks = `${first.catalog.get('network')}/v2.0/networks`;
    const made = await ask('POST', networks, first.token, { network: { name: 'kept' } });
    expect(made.status).toBe(201);
    await rig.stop();
    await expect(fetch(rig.authUrl)).rejects.toThrow('fetch failed');

    rig = await startRig();
    await rig.kill('neutron');
    await expect(fetch(networks)).rejects.toThrow('fetch failed');
    await rig.start('neutron');
    const { token } = await signIn(rig);
    const { id } = made.body.network;
    expect((await ask('GET', `${networks}/${id}`, token)).body.network).toMatchObject({ name: 'kept' });
    expect((await ask('DELETE', `${networks}/${id}`, token)).status).toBe(204);
    expect((await ask('GET', `${networks}/${id}`, token)).status).toBe(404);
  });
});

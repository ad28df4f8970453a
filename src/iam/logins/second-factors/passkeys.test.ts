import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newPerson, PASSWORD, type Person } from '../../../../test/support/logins.ts';
import { addApp, addPasskey, softAuthenticator } from '../../../../test/support/second-factors.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

const OWN = '/tradewind/v1/second_factors';
const SECOND = '/tradewind/v1/logins/second_factor';
const HERE = { origin: 'https://console.example.com', rpId: 'console.example.com' };

let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_PUBLIC_URL: `${HERE.origin}/below` });
});
afterAll(() => service?.stop());

async function challengeOf(person: Person): Promise<string> {
  const { body } = await service.anonymous.post('/iam/auth/jwt/login', { username: person.email, password: PASSWORD });
  return body.challenge;
}

/** A challenge, and the options that a browser gets for it. */
async function asked(person: Person) {
  const challenge = await challengeOf(person);
  const options = await service.anonymous.post(`${SECOND}/passkey_options`, { challenge });
  expect(options.status, options.text).toBe(200);
  return { challenge, options: options.body };
}
const answer = (challenge: string, passkey: object) => service.anonymous.post(SECOND, { challenge, passkey });

async function withPasskey() {
  const person = await newPerson(service.http);
  const authenticator = softAuthenticator(HERE);
  const added = await addPasskey(person, authenticator);
  expect(added.status, added.text).toBe(201);
  return { person, authenticator, added };
}

describe('a passkey', () => {
  it('is a second factor, one of several with names', async () => {
    const { person, authenticator, added } = await withPasskey();
    expect(added.body).toMatchObject({ kind: 'passkey', name: 'Laptop', recovery_codes: { length: 10 } });
    const second = await addPasskey(person, softAuthenticator(HERE), 'Key');
    expect([second.status, second.body.recovery_codes]).toEqual([201, undefined]);
    const own = await person.http.get(OWN);
    expect(own.body).toMatchObject({ count: 2, results: [{ name: 'Laptop' }, { name: 'Key' }], passkeys: true });
    const { challenge, options } = await asked(person);
    expect(options).toMatchObject({ rpId: HERE.rpId, allowCredentials: [{ id: authenticator.id }, {}] });
    const pair = await answer(challenge, authenticator.get(options));
    expect(pair.status, pair.text).toBe(200);
    const { body } = await person.http.get('/iam/activity_log/logins?limit=1');
    expect(body.result).toMatchObject([{ auth_type: 'passkey', is_successful: true }]);
    const { rows } = await service.pool.query('select counter from second_factors where credential_id = $1', [
      authenticator.id,
    ]);
    expect(rows).toEqual([{ counter: 2 }]);
  });

  it('is refused from another page, for another name, and for another challenge', async () => {
    const { person, authenticator } = await withPasskey();
    const { challenge, options } = await asked(person);
    const wrong = authenticator.get(options, { origin: 'https://console.example.com.evil.example' });
    expect((await answer(challenge, wrong)).status).toBe(400);
    // A wrong answer uses the options up, also for the right one.
    expect((await answer(challenge, authenticator.get(options))).status).toBe(400);
    const again = await asked(person);
    const elsewhere = authenticator.get(again.options, { rpId: 'evil.example' });
    expect((await answer(again.challenge, elsewhere)).status).toBe(400);
    const [one, other] = [await asked(person), await asked(person)];
    expect((await answer(one.challenge, authenticator.get(other.options))).status).toBe(400);
    const made = softAuthenticator(HERE).create(other.options);
    expect((await answer(other.challenge, made)).status).toBe(400);
    await service.pool.query('delete from login_limits');
  });

  it('is refused when it is sent again, and when another one sends it', async () => {
    const { person, authenticator } = await withPasskey();
    const { challenge, options } = await asked(person);
    const passkey = authenticator.get(options);
    const both = await Promise.all([answer(challenge, passkey), answer(challenge, passkey)]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401]);
    expect((await answer((await asked(person)).challenge, passkey)).status).toBe(400);
    const stranger = await withPasskey();
    const next = await asked(person);
    expect((await answer(next.challenge, stranger.authenticator.get(next.options))).status).toBe(400);
    // The same passkey can't be added by another user.
    const stolen = await addPasskey(stranger.person, authenticator);
    expect(stolen.status).toBe(409);
    await service.pool.query('delete from login_limits');
  });

  it('with a counter that goes back is a copy, and refused', async () => {
    const { person, authenticator } = await withPasskey();
    await service.pool.query('update second_factors set counter = 1000 where credential_id = $1', [authenticator.id]);
    const { challenge, options } = await asked(person);
    expect((await answer(challenge, authenticator.get(options))).status).toBe(400);
  });

  it('without a counter works again and again', async () => {
    const person = await newPerson(service.http);
    const authenticator = softAuthenticator(HERE, { counts: false });
    expect((await addPasskey(person, authenticator)).status).toBe(201);
    for (let n = 0; n < 2; n++) {
      const { challenge, options } = await asked(person);
      expect((await answer(challenge, authenticator.get(options))).status).toBe(200);
    }
  });

  it('is added only with an answer to the own options, once, from a page of this server', async () => {
    const [person, other] = [await newPerson(service.http), await newPerson(service.http)];
    const options = async ({ http }: Person) =>
      (await http.post(`${OWN}/passkey_options`, { password: PASSWORD })).body as { challenge: string };
    const add = ({ http }: Person, passkey: object) => http.post(`${OWN}/passkeys`, { name: 'x', passkey });
    const fresh = () => softAuthenticator(HERE);
    expect((await add(person, fresh().create(await options(other)))).status).toBe(400);
    expect((await add(person, fresh().create(await options(person), { origin: 'https://evil.example' }))).status).toBe(
      400,
    );
    expect((await add(person, fresh().create(await options(person), { rpId: 'evil.example' }))).status).toBe(400);
    expect((await add(person, fresh().create({ challenge: 'AAAA' }))).status).toBe(400);
    const good = await options(person);
    expect((await add(person, fresh().create(good))).status).toBe(201);
    expect((await add(person, fresh().create(good))).status).toBe(400);
    const wrong = await person.http.post(`${OWN}/passkey_options`, { password: 'wrong' });
    expect(wrong.status).toBe(400);
  });

  it('goes, and its challenge with it', async () => {
    const { person, authenticator, added } = await withPasskey();
    const { challenge, options } = await asked(person);
    await addApp(person);
    const removed = await person.http.post(`${OWN}/${added.body.id}/remove`, { password: PASSWORD });
    expect(removed.status, removed.text).toBe(204);
    expect((await answer(challenge, authenticator.get(options))).status).toBe(400);
    expect((await person.http.get(OWN)).body).toMatchObject({ count: 1, recovery_codes: 10 });
  });
});

it('a server whose address is no name with https has no passkeys, and says so', async () => {
  for (const url of [undefined, 'http://console.example.com', 'https://192.0.2.1']) {
    const plain = await startService(url === undefined ? {} : { TRADEWIND_PUBLIC_URL: url });
    const person = await newPerson(plain.http);
    const refused = await person.http.post(`${OWN}/passkey_options`, { password: PASSWORD });
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringMatching(/need TRADEWIND_PUBLIC_URL/)]);
    expect((await person.http.get(OWN)).body.passkeys).toBe(false);
    await plain.stop();
  }
});

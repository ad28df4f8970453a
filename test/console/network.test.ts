import { beforeAll, describe, expect, it } from 'vitest';
import { accessibilityFaults, describeInBrowser, setUpBrowser, type Visit } from '../support/browser.ts';
import type { HttpClient } from '../support/http-client.ts';

type Page = Visit['page'];
type Locator = ReturnType<Page['locator']>;

const PLACE = 'p/1/r/1';
const FLAVOR = 'g1-standard-1-2';

/** Sends a request that starts a task, and returns the ID of what the task made. */
async function made(http: HttpClient, path: string, body: object, kind: string): Promise<string> {
  const { status, text, body: answer } = await http.post(path, body);
  expect(status, text).toBe(200);
  const task = await http.task(answer.tasks?.[0] ?? answer[0]);
  expect(task).toMatchObject({ state: 'FINISHED' });
  return task.created_resources[kind][0];
}

async function newNetwork(http: HttpClient, name: string, cidr: string): Promise<{ network: string; subnet: string }> {
  const network = await made(http, '/cloud/v1/networks/1/1', { name, create_router: false }, 'networks');
  const subnet = await made(http, '/cloud/v1/subnets/1/1', { name, network_id: network, cidr }, 'subnets');
  return { network, subnet };
}

async function newGroup(http: HttpClient, name: string): Promise<string> {
  const { status, text, body } = await http.post('/cloud/v1/securitygroups/1/1', { security_group: { name } });
  expect(status, text).toBe(200);
  return body.id;
}

async function setRules(http: HttpClient, group: string, rules: readonly object[]): Promise<void> {
  const { status, text } = await http.patch(`/cloud/v2/security_groups/1/1/${group}`, { rules });
  expect(status, text).toBe(200);
}

interface Machine {
  name: string;
  id: string;
  port: string;
  address: string;
  network: string;
  groups: string[];
  secured: boolean;
}

async function newMachine(
  http: HttpClient,
  name: string,
  { network, subnet }: { network: string; subnet: string },
  groups: string[],
): Promise<Machine> {
  const images = await http.get('/cloud/v1/images/1/1?limit=1');
  const id = await made(
    http,
    '/cloud/v2/instances/1/1',
    {
      name,
      flavor: FLAVOR,
      interfaces: [
        {
          type: 'subnet',
          network_id: network,
          subnet_id: subnet,
          security_groups: groups.map((group) => ({ id: group })),
        },
      ],
      volumes: [{ source: 'image', image_id: images.body.results[0].id, size: 10, boot_index: 0 }],
    },
    'instances',
  );
  const { body } = await http.get(`/cloud/v1/instances/1/1/${id}/interfaces`);
  const [{ port_id: port, ip_assignments: assigned }] = body.results;
  return { name, id, port, address: assigned[0].ip_address, network, groups, secured: true };
}

async function turnOffPortSecurity(http: HttpClient, machine: Machine): Promise<void> {
  const { status, text } = await http.post(`/cloud/v1/ports/1/1/${machine.port}/disable_port_security`);
  expect(status, text).toBe(200);
  Object.assign(machine, { secured: false, groups: [] });
}

describeInBrowser('pages of networks', () => {
  const browser = setUpBrowser();

  describe('reachability', () => {
    const QUESTIONS = 200;
    /** In the browser are asked as many as a minute allows, within these limits; the others are asked of the API. */
    const IN_BROWSER = { least: 20, most: 50, withinMs: 60_000 };
    /** These are asked through the form, the others of the browser through the address of the page. */
    const BY_FORM = 10;

    const DRAFTS = 25;

    interface Pair {
      allowed: boolean;
      drafted: boolean;
    }
    interface Rule {
      direction: 'ingress' | 'egress';
      ethertype: 'IPv4' | 'IPv6';
      protocol: string | null;
      port_range_min: number | null;
      port_range_max: number | null;
      remote_ip_prefix: string | null;
      remote_group_id: string | null;
    }
    /** A machine, an address that nobody here has, or the internet. */
    type End = Machine | string;
    interface Question {
      from: End;
      to: End;
      protocol: string;
      port: string;
    }

    const seed = Math.floor(Math.random() * 2 ** 32);
    const random = randomFrom(seed);
    const pick = <One>(from: readonly One[]): One => from[Math.floor(random() * from.length)] as One;
    const INTERNET = 'internet';
    const STRANGERS = ['203.0.113.7', '203.0.113.200', '198.51.100.9', '10.81.0.250', INTERNET, INTERNET];
    const rules = new Map<string, Rule[]>();
    const routed = new Set<string>();
    let machines: Machine[] = [];

    beforeAll(async () => {
      const { http } = browser.service;
      const [near, far, alone] = [
        await newNetwork(http, 'near', '10.81.0.0/24'),
        await newNetwork(http, 'far', '10.82.0.0/24'),
        await newNetwork(http, 'alone', '10.83.0.0/24'),
      ];
      const interfaces = [near, far].map(({ subnet }) => ({ type: 'subnet', subnet_id: subnet }));
      await made(http, '/cloud/v1/routers/1/1', { name: 'between', interfaces }, 'routers');
      for (const { network } of [near, far]) routed.add(network);
      const groups = await Promise.all(['one', 'two', 'three', 'four', 'five'].map((name) => newGroup(http, name)));
      for (const group of groups) {
        const drawn = randomRules(groups);
        rules.set(group, drawn);
        await setRules(http, group, drawn);
      }
      const places = [near, near, near, far, far, far, alone, near];
      machines = await Promise.all(
        places.map((where, at) =>
          newMachine(http, `machine-${at + 1}`, where, at === 5 ? [] : [...new Set([pick(groups), pick(groups)])]),
        ),
      );
      const open = machines.at(-1) as Machine;
      await turnOffPortSecurity(http, open);
      // The first one isn't open to the internet, so that drafts can open it.
      const isForAll = (rule: Rule) => rule.direction === 'ingress' && !rule.remote_group_id && !rule.remote_ip_prefix;
      for (const group of machines[0]?.groups ?? []) {
        const kept = (rules.get(group) ?? []).filter((rule) => !isForAll(rule));
        rules.set(group, [...kept, tcp(2222, '203.0.113.0/24')]);
        await setRules(http, group, rules.get(group) ?? []);
      }
    });

    const tcp = (port: number, remote_ip_prefix: string | null): Rule => ({
      direction: 'ingress',
      ethertype: 'IPv4',
      protocol: 'tcp',
      port_range_min: port,
      port_range_max: port,
      remote_ip_prefix,
      remote_group_id: null,
    });

    function randomRules(groups: readonly string[]): Rule[] {
      const drawn = Array.from({ length: 7 }, () => randomRule(groups));
      return [...new Map(drawn.map((rule) => [JSON.stringify(rule), rule])).values()];
    }

    function randomRule(groups: readonly string[]): Rule {
      const protocol = pick([null, 'tcp', 'tcp', 'udp', 'icmp']);
      const [first, last] = pick([
        [null, null],
        [22, 22],
        [80, 443],
        [5000, 6000],
      ] as const);
      const ports = protocol === 'tcp' || protocol === 'udp';
      const group = random() < 0.3 ? pick(groups) : null;
      const prefixes = [null, null, '10.81.0.0/24', '10.82.0.0/25', '10.80.0.0/14', '203.0.113.0/24', '203.0.113.7/32'];
      const ethertype = random() < 0.15 && protocol !== 'icmp' ? 'IPv6' : 'IPv4';
      return {
        direction: pick(['ingress', 'egress']),
        ethertype,
        protocol,
        port_range_min: ports ? first : null,
        port_range_max: ports ? last : null,
        remote_group_id: group,
        remote_ip_prefix: group === null && ethertype === 'IPv4' ? pick(prefixes) : null,
      };
    }

    function randomQuestion(): Question {
      const end = (): End => (random() < 0.25 ? pick(STRANGERS) : pick(machines));
      const protocol = pick(['', 'tcp', 'tcp', 'tcp', 'udp', 'icmp']);
      const port = protocol === 'tcp' || protocol === 'udp' ? pick(['', '22', '80', '443', '444', '5432']) : '';
      const [from, to] = [end(), end()];
      return from === to || (typeof from === 'string' && typeof to === 'string')
        ? randomQuestion()
        : { from, to, protocol, port };
    }

    const isConnected = (from: End, to: End): boolean =>
      typeof from === 'string' ||
      typeof to === 'string' ||
      from.network === to.network ||
      (routed.has(from.network) && routed.has(to.network));

    const holdsPort = ({ port_range_min: first, port_range_max: last }: Rule, port: string): boolean =>
      first === null || (port !== '' && Number(port) >= first && Number(port) <= Number(last));

    function holdsOther({ remote_group_id: group, remote_ip_prefix: prefix }: Rule, other: End): boolean {
      if (group !== null) return typeof other !== 'string' && other.groups.includes(group);
      // Our rules have no prefix that holds every address.
      if (other === INTERNET) return prefix === null;
      return prefix === null || isIn(typeof other === 'string' ? other : other.address, prefix);
    }

    /** What networks do: rules only allow, each side needs one, and what comes back to an allowed question is not asked. */
    function passes({ from, to, protocol, port }: Question, by: ReadonlyMap<string, Rule[]> = rules): boolean {
      const side = (own: End, other: End, direction: Rule['direction']): boolean => {
        if (typeof own === 'string' || !own.secured) return true;
        const fitting = own.groups
          .flatMap((group) => by.get(group) ?? [])
          .filter((rule) => rule.direction === direction && rule.ethertype === 'IPv4')
          .filter((rule) => rule.protocol === null || rule.protocol === protocol);
        return fitting.some((rule) => holdsPort(rule, port) && holdsOther(rule, other));
      };
      return isConnected(from, to) && side(from, to, 'egress') && side(to, from, 'ingress');
    }

    const idOf = (end: End): string => (typeof end === 'string' ? end : end.port);
    const nameOf = (end: End): string => (end === INTERNET ? 'the internet' : typeof end === 'string' ? end : end.name);
    const queryOf = ({ from, to, protocol, port }: Question): URLSearchParams =>
      new URLSearchParams({
        from: idOf(from),
        to: idOf(to),
        ...(protocol && { protocol }),
        ...(port && { port }),
      });
    const textOf = ({ from, to, protocol, port }: Question): string => {
      const ported = protocol === 'tcp' || protocol === 'udp';
      const traffic = protocol === '' ? 'Everything' : !ported ? protocol : `${protocol} ${port || 'on all ports'}`;
      return `${traffic} from ${nameOf(from)} to ${nameOf(to)}`;
    };

    async function chooseEnd(page: Page, label: string, end: End): Promise<void> {
      const kind = end === INTERNET ? 'the internet' : typeof end === 'string' ? 'an address' : 'an instance';
      await page.getByLabel(`${label}: what`).selectOption({ label: kind });
      if (end === INTERNET) return;
      if (typeof end === 'string') {
        await page.getByLabel(`${label}: address`).fill(end);
      } else {
        await page.getByLabel(`${label}: instance`).selectOption({ label: end.name });
      }
    }

    async function askByForm(page: Page, { from, to, protocol, port }: Question): Promise<void> {
      await chooseEnd(page, 'From', from);
      await chooseEnd(page, 'To', to);
      await page.getByLabel('Protocol').selectOption(protocol);
      if (protocol === 'tcp' || protocol === 'udp') await page.getByLabel('Port', { exact: true }).fill(port);
    }

    it('is told as an evaluator of its own works it out, for random questions', async () => {
      const questions = Array.from({ length: QUESTIONS }, randomQuestion);
      const expected = questions.map((question) => [textOf(question), passes(question)]);
      // Both verdicts are among them, or little is shown.
      expect(new Set(expected.map(([, verdict]) => verdict)).size, `seed ${seed}`).toBe(2);
      const { page, open } = await browser.visit();
      const told: [string, boolean][] = [];
      const begun = Date.now();
      const inBrowser = (at: number): boolean =>
        at < IN_BROWSER.least || (at < IN_BROWSER.most && Date.now() - begun < IN_BROWSER.withinMs);
      for (const [at, question] of questions.entries()) {
        if (!inBrowser(at)) {
          const { status, text, body } = await browser.service.http.get(
            `/tradewind/v1/reachability?${queryOf(question)}`,
          );
          expect(status, text).toBe(200);
          told.push([textOf(question), body.allowed]);
          continue;
        }
        if (at === 0) await open(`${PLACE}/reachability`);
        if (at < BY_FORM) await askByForm(page, question);
        else await open(`${PLACE}/reachability?${queryOf(question)}`);
        const answer = page
          .getByRole('region', { name: /^(Allowed|Blocked)( by its rules)?$/ })
          .filter({ hasText: textOf(question) });
        told.push([
          textOf(question),
          (await answer.getByRole('heading').textContent())?.startsWith('Allowed') === true,
        ]);
      }
      expect(told, `seed ${seed}`).toEqual(expected);
    });

    it('is told so for drafts of rules as well, for all pairs at once', async () => {
      const groups = [...rules.keys()];
      const ends: End[] = [...machines, ...new Set(STRANGERS)];
      const verdicts = new Set<string>();
      for (let draft = 0; draft < DRAFTS; draft++) {
        const drafted = new Map([pick(groups), pick(groups)].map((group) => [group, randomRules(groups)]));
        const { protocol, port } = randomQuestion();
        const { status, text, body } = await browser.service.http.post('/tradewind/v1/reachability', {
          from: ends.map(idOf),
          to: ends.map(idOf),
          ...(protocol && { protocol }),
          ...(port && { port: Number(port) }),
          drafts: [...drafted].map(([security_group_id, rules]) => ({ security_group_id, rules })),
        });
        expect(status, text).toBe(200);
        const pairs = ends.flatMap((from) =>
          ends
            .filter((to) => from !== to && (typeof from !== 'string' || typeof to !== 'string'))
            .map((to) => ({ from, to, protocol, port })),
        );
        const then = new Map([...rules, ...drafted]);
        const expected = pairs.map((asked) => [textOf(asked), passes(asked), passes(asked, then)]);
        const told = body.pairs.map(({ allowed, drafted }: Pair, at: number) => [
          pairs[at] && textOf(pairs[at]),
          allowed,
          drafted,
        ]);
        expect(told, `seed ${seed}`).toEqual(expected);
        for (const [, before, after] of expected) verdicts.add(`${before} ${after}`);
      }
      expect(verdicts.size, `seed ${seed}`).toBe(4);
    });

    it('says what a question lacks, leads there, and answers once nothing is missing', async () => {
      const { page, open } = await browser.visit();
      const [first] = machines as [Machine];
      await open(`${PLACE}/reachability`);
      const lack = (text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();
      await lack(
        'Still missing: who sends: choose an instance under “From”; who receives: choose an instance under “To”.',
      );
      await chooseEnd(page, 'From', '203.0.113.7');
      await lack('Still missing: who receives: choose an instance under “To”.');
      await page.getByRole('button', { name: 'Ask', exact: true }).click();
      expect(await page.evaluate('document.activeElement.labels[0].textContent')).toContain('To: instance');
      await chooseEnd(page, 'To', '203.0.113.8');
      await lack('Still missing: an instance: one of both has to be one.');
      expect(await accessibilityFaults(page)).toEqual([]);
      await chooseEnd(page, 'To', first);
      const answer = page.getByRole('region', { name: /^(Allowed|Blocked)( by its rules)?$/ });
      await answer.filter({ hasText: `Everything from 203.0.113.7 to ${first.name}` }).waitFor();
      await page.getByRole('button', { name: 'Ask the other way round' }).click();
      await answer.filter({ hasText: `Everything from ${first.name} to 203.0.113.7` }).waitFor();
      expect(await page.getByLabel('To: address').inputValue()).toBe('203.0.113.7');
    });

    it('is the same in each cell of the matrix, which leads to its question', async () => {
      const { page, open } = await browser.visit();
      await open(`${PLACE}/reachability/matrix?protocol=tcp&port=443`);
      const table = page.getByRole('table');
      const ends: End[] = [...machines, INTERNET];
      const asked = (from: End, to: End): Question => ({ from, to, protocol: 'tcp', port: '443' });
      const verdict = (from: End, to: End) =>
        from === to ? 'itself' : passes(asked(from, to)) ? 'allowed' : 'blocked';
      await expect
        .poll(() => table.getByRole('link', { name: /^(allowed|blocked)$/ }).count())
        .toBe(ends.length * (ends.length - 1));
      expect(await cellsOf(table), `seed ${seed}`).toEqual(cellsBy(ends, verdict));
      const [from, to] = ends as [Machine, Machine];
      await table
        .getByRole('link', { name: verdict(from, to) })
        .first()
        .click();
      await page.getByRole('heading', { name: 'Reachability', level: 1 }).waitFor();
      expect(new URL(page.url()).searchParams.get('port')).toBe('443');
    });

    /** What a matrix says, by the names of both ends. */
    async function cellsOf(table: Locator): Promise<Record<string, string>> {
      const heads = await table.getByRole('columnheader').allTextContents();
      const rows = await table.locator('tbody').getByRole('row').all();
      const told = await Promise.all(
        rows.map(async (row) => {
          const from = (await row.getByRole('rowheader').textContent()) ?? '';
          const texts = await row.getByRole('cell').allTextContents();
          return texts.map((text, at) => [`${nameIn(from)} to ${nameIn(heads[at + 1] ?? '')}`, text]);
        }),
      );
      return Object.fromEntries(told.flat());
    }
    const nameIn = (head: string): string => /^(the internet|\S+)/.exec(head)?.[0] ?? head;
    const cellsBy = (ends: readonly End[], say: (from: End, to: End) => string, name = nameOf) =>
      Object.fromEntries(ends.flatMap((from) => ends.map((to) => [`${name(from)} to ${name(to)}`, say(from, to)])));

    it('is shown for a draft before it is applied, and then is as the draft said', async () => {
      const group = machines.flatMap(({ groups }) => groups)[0] as string;
      const https: Rule[] = [tcp(443, null), { ...tcp(443, null), ethertype: 'IPv6' }];
      const { body } = await browser.service.http.get(`/cloud/v1/securitygroups/1/1/${group}`);
      const [first] = body.security_group_rules;
      const isFirst = (rule: Rule) =>
        Object.entries(rule).every(([name, value]) => value === ([first[name]].flat()[0] ?? null));
      const kept = (rules.get(group) ?? []).filter((rule) => !isFirst(rule));
      expect(kept.length).toBe((rules.get(group) ?? []).length - 1);
      // The first rule of the page goes, so that something may close as well.
      const then = new Map([...rules, [group, [...kept, ...https]]]);
      // Of the range that it names, the page asks about the last address.
      const lasts: Record<string, string> = {
        '10.81.0.0/24': '10.81.0.255',
        '10.82.0.0/25': '10.82.0.127',
        '10.80.0.0/14': '10.83.255.255',
        '203.0.113.0/24': '203.0.113.255',
        '203.0.113.7/32': '203.0.113.7',
      };
      const range = lasts[first.remote_ip_prefix ?? ''];
      const ends: End[] = [...machines, INTERNET, ...(range ? [range] : [])];
      const told = { true: { true: 'stays open', false: 'closes' }, false: { true: 'opens', false: 'stays blocked' } };
      const outcome = (from: End, to: End) => {
        if (from === to) return 'itself';
        if (typeof from === 'string' && typeof to === 'string') return '–';
        const asked = { from, to, protocol: 'tcp', port: '443' };
        return told[`${passes(asked)}`][`${passes(asked, then)}`];
      };
      const expected = cellsBy(ends, outcome, (end) => (end === range ? first.remote_ip_prefix : nameOf(end)));
      const opens = Object.values(expected).filter((text) => text === 'opens').length;
      const gained = machines.filter((machine) => outcome(INTERNET, machine) === 'opens').map(({ name }) => name);
      expect(gained, `seed ${seed}`).toContain('machine-1');

      const { page, open } = await browser.visit();
      await open(`${PLACE}/security-groups/${group}`);
      const lines = page.getByRole('list', { name: 'Rules' }).getByRole('listitem');
      await lines
        .first()
        .getByRole('button', { name: /^Remove / })
        .click();
      await page.getByRole('button', { name: 'HTTPS', exact: true }).click();
      await page.getByLabel('Traffic', { exact: true }).selectOption('tcp 443');
      const part = page.getByRole('region', { name: 'What opens and closes' });
      await part
        .getByRole('status')
        .filter({ hasText: /^tcp 443: / })
        .waitFor();
      expect(await cellsOf(part.getByRole('table')), `seed ${seed}`).toEqual(expected);
      expect(await part.getByRole('status').textContent()).toContain(`${opens} connection`);
      expect(await part.getByText('The internet gains access').count()).toBe(1);
      expect(await accessibilityFaults(page)).toEqual([]);

      const sum = (await part.getByRole('status').textContent()) ?? '';
      await page.getByRole('button', { name: 'Apply' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText(sum).waitFor();
      for (const name of gained) await dialog.locator('.note.warn').filter({ hasText: name }).waitFor();
      await dialog.getByRole('button', { name: 'Apply' }).click();
      await page.getByText('Nothing is changed.').waitFor();
      expect(await part.count()).toBe(0);
      rules.set(group, then.get(group) ?? []);
      await open(`${PLACE}/reachability/matrix?protocol=tcp&port=443`);
      const table = page.getByRole('table');
      await expect.poll(() => table.getByRole('link', { name: /^(allowed|blocked)$/ }).count()).toBeGreaterThan(0);
      const applied = { opens: 'allowed', closes: 'blocked', 'stays open': 'allowed', 'stays blocked': 'blocked' };
      expect(await cellsOf(table), `seed ${seed}`).toEqual(
        Object.fromEntries(
          Object.entries(cellsBy([...machines, INTERNET], outcome)).map(([pair, text]) => [
            pair,
            applied[text as keyof typeof applied] ?? text,
          ]),
        ),
      );
    });

    it('is shown for a range that a drafted rule names, with a warning if it is much of the internet', async () => {
      const [{ groups }] = machines as [Machine];
      const { page, open } = await browser.visit();
      const add = new URLSearchParams({ add: JSON.stringify({ ...tcp(8443, '0.0.0.0/1'), description: '' }) });
      await open(`${PLACE}/security-groups/${groups[0]}?${add}`);
      const part = page.getByRole('region', { name: 'What opens and closes' });
      await part
        .getByText('New rules are open to much of the internet: in · IPv4 · tcp 8443 · from 0.0.0.0/1.')
        .waitFor();
      await part.getByRole('table').waitFor();
      const cells = await cellsOf(part.getByRole('table'));
      expect(cells).toMatchObject({ '0.0.0.0/1 to machine-1': 'opens', '0.0.0.0/1 to the internet': '–' });
      expect(await part.getByText('The internet gains access').count()).toBe(0);
    });
  });

  it('apply a preset and a draft to a group by one request, and mark what is open to the internet', async () => {
    const { http } = browser.service;
    const clients = await newGroup(http, 'clients');
    const group = await newGroup(http, 'servers');
    const all = { direction: 'egress', ethertype: 'IPv4', protocol: null };
    const rule = (port: number, remote: object) => ({
      direction: 'ingress',
      ethertype: 'IPv4',
      protocol: 'tcp',
      port_range_min: port,
      port_range_max: port,
      ...remote,
    });
    await setRules(http, group, [
      all,
      rule(22, { remote_ip_prefix: '203.0.113.7/32' }),
      rule(8080, { remote_ip_prefix: '10.0.0.0/8' }),
    ]);
    const { page, open } = await browser.visit();
    await open(`${PLACE}/security-groups/${group}`);
    const lines = page.getByRole('list', { name: 'Rules' }).getByRole('listitem');
    const line = (text: string): Locator => lines.filter({ hasText: text });
    await line('in · IPv4 · tcp 22 · from 203.0.113.7/32').waitFor();
    expect(await page.getByText('open to the internet').count()).toBe(0);

    await page.getByRole('button', { name: 'HTTPS', exact: true }).click();
    expect(await line('open to the internet').count()).toBe(2);
    await page.getByLabel('from another group').selectOption({ label: 'clients' });
    await page.getByRole('button', { name: 'Add database' }).click();
    await page.getByRole('button', { name: /^Remove in · IPv4 · tcp 22 / }).click();
    await page.getByRole('button', { name: /^Edit in · IPv4 · tcp 8080 / }).click();
    const form = page.getByRole('form', { name: 'Change the rule' });
    await form.getByLabel('First port').fill('8081');
    await form.getByRole('button', { name: 'Change the draft' }).click();
    await page.getByRole('status').filter({ hasText: '4 added, 1 changed, 1 removed. Not applied yet.' }).waitFor();
    expect(await line('− removed').textContent()).toContain('tcp 22');
    expect(await line('± changed').textContent()).toContain('tcp 8081');
    expect((await http.get(`/cloud/v1/securitygroups/1/1/${group}`)).body.security_group_rules).toHaveLength(3);

    await page.getByRole('button', { name: 'Apply' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('list', { name: 'Changes' }).getByRole('listitem').count()).toBe(6);
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('Nothing is changed.').waitFor();
    const { body } = await http.get(`/cloud/v1/securitygroups/1/1/${group}`);
    const kept = ({ direction, ethertype, protocol, port_range_min, remote_ip_prefix, remote_group_id }: never) =>
      [direction, ethertype, protocol, port_range_min, remote_ip_prefix, ...remote_group_id].join(' ');
    expect(body.security_group_rules.map(kept).sort()).toEqual(
      [
        'egress IPv4   ',
        'ingress IPv4 tcp 8081 10.0.0.0/8',
        'ingress IPv4 tcp 443 ',
        'ingress IPv6 tcp 443 ',
        `ingress IPv4 tcp 5432  ${clients}`,
        `ingress IPv6 tcp 5432  ${clients}`,
      ].sort(),
    );
  });

  it('do not overwrite what somebody else has changed since the draft was begun', async () => {
    const { http } = browser.service;
    const group = await newGroup(http, 'shared');
    const { page, open } = await browser.visit();
    await open(`${PLACE}/security-groups/${group}`);
    await page.getByRole('button', { name: 'Ping' }).click();
    await setRules(http, group, []);
    browser.expectFaults(/412/);
    await page.getByRole('alert').filter({ hasText: 'Somebody has changed this group' }).waitFor();
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('dialog').getByRole('alert').first().waitFor();
    expect((await http.get(`/cloud/v1/securitygroups/1/1/${group}`)).body.security_group_rules).toEqual([]);
  });

  it('say which instances a bulk action was refused for, and try only those again', async () => {
    const { http } = browser.service;
    const network = await newNetwork(http, 'bulk', '10.84.0.0/24');
    const machines = await Promise.all(
      ['bulk-1', 'bulk-2', 'bulk-3'].map((name) => newMachine(http, name, network, [])),
    );
    const [stopped] = machines as [Machine];
    const act = async (action: string) => {
      const { body } = await http.post(`/cloud/v2/instances/1/1/${stopped.id}/action`, { action });
      expect(await http.task(body.tasks?.[0] ?? body[0])).toMatchObject({ state: 'FINISHED' });
    };
    await act('stop');
    const { page, open } = await browser.visit();
    browser.expectFaults(/409/);
    await open(`${PLACE}/instances?name=bulk-`);
    await page.getByLabel('Choose bulk-3').waitFor();
    await page.getByLabel('Choose all on this page').check();
    await page.getByRole('button', { name: 'Stop 3' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Stop 3' }).click();
    await dialog.getByText('2 of 3 accepted, 1 refused.').waitFor();
    const refused = dialog.getByRole('listitem').filter({ hasNotText: 'accepted' });
    expect(await refused.count()).toBe(1);
    expect(await refused.textContent()).toMatch(/^bulk-1.*stopped/i);
    await act('start');
    await dialog.getByRole('button', { name: 'Try it again' }).click();
    // Those that are stopped would be refused now.
    await dialog.getByText('3 of 3 accepted.').waitFor();
    await dialog.getByRole('heading', { name: 'Stopped', exact: true }).waitFor();
    const stops = await Promise.all(
      machines.map(({ id }) => http.get(`/cloud/v1/user_actions?resource_id=${id}&action_type=stop`)),
    );
    expect(stops.map(({ body }) => body.count)).toEqual([2, 1, 1]);
  });

  it('make a network with its subnet, while one looks at other pages', async () => {
    const { http } = browser.service;
    const { page, open } = await browser.visit();
    await open(`${PLACE}/networks?new=yes`);
    const name = page.getByRole('textbox', { name: 'Name required' });
    await name.fill('with a subnet');
    const addresses = page.getByLabel('Addresses of its first subnet');
    const create = page.getByRole('button', { name: 'Create', exact: true });
    await addresses.fill('10.85.0.0');
    expect(await create.isDisabled()).toBe(true);
    await addresses.fill('10.85.0.0/24');
    await create.click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('create network').waitFor();
    expect(await dialog.getByRole('list', { name: 'Steps' }).getByRole('listitem').allTextContents()).toEqual([
      'The network with a subnet is made, with a router to the internet.',
      'Then its subnet with a subnet is made, with the addresses 10.85.0.0/24.',
    ]);
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    // On a busy machine, what says that it is accepted says that it is there before anybody looks.
    await name.waitFor({ state: 'hidden' });
    const cleared = page.getByRole('textbox', { name: 'Name required', includeHidden: true });
    await expect.poll(() => cleared.inputValue()).toBe('');
    await page.getByRole('link', { name: 'Volumes', exact: true }).click();
    await page.getByRole('heading', { name: 'Volumes', level: 1 }).waitFor();
    await page.getByText('The network is there, with its subnet').waitFor();
    const { body } = await http.get('/cloud/v1/networks/1/1?name=with%20a%20subnet');
    expect(body.results).toMatchObject([{ subnets: [expect.any(String)] }]);
    await page.getByRole('link', { name: 'See with a subnet' }).click();
    await page.getByRole('cell', { name: '10.85.0.0/24' }).waitFor();
  });

  it('open a new group, and lead from an instance to what it is made of', async () => {
    const { http } = browser.service;
    const { page, open } = await browser.visit();
    await open(`${PLACE}/security-groups?new=yes`);
    await page.getByRole('textbox', { name: 'Name required' }).fill('made here');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { name: 'made here', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Instances', exact: true }).last().click();
    await page.getByText('No instance uses this group.').waitFor();

    const network = await newNetwork(http, 'led to', '10.86.0.0/24');
    const machine = await newMachine(http, 'leads', network, []);
    await page.getByText('Put it on an instance').click();
    await page.getByLabel('Instance', { exact: true }).selectOption({ label: 'leads' });
    await page.getByLabel('Port', { exact: true }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Put it there' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Put it there' }).click();
    await page.getByRole('link', { name: 'Change its groups' }).click();
    await page.getByRole('heading', { name: 'leads', level: 1 }).waitFor();
    await page.getByRole('region', { name: /^Port / }).waitFor();
    await open(`${PLACE}/instances/${machine.id}`);
    const facts = page.getByRole('main');
    const [volume] = (await http.get(`/cloud/v1/volumes/1/1?instance_id=${machine.id}`)).body.results;
    const image = (await http.get('/cloud/v1/images/1/1?limit=1')).body.results[0].name;
    for (const name of ['led to', 'made here', volume.name || volume.id, image])
      await facts.getByRole('link', { name, exact: true }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await facts.getByRole('link', { name: volume.name || volume.id, exact: true }).click();
    await facts.getByText('a month').waitFor();
    await facts.getByRole('link', { name: 'leads', exact: true }).waitFor();
    await facts.getByRole('link', { name: 'Take a snapshot …' }).click();
    await page.getByText('There is no snapshot of this volume yet.').waitFor();
  });

  it('have a console that shows what the machine prints and takes what is typed', async () => {
    const { http } = browser.service;
    const { page, open } = await browser.visit();
    const network = await newNetwork(http, 'talked in', '10.87.0.0/24');
    const machine = await newMachine(http, 'talks', network, []);
    await open(`${PLACE}/instances/${machine.id}?tab=console`);
    await page.getByRole('button', { name: 'Connect' }).click();
    const screen = page.getByRole('log', { name: 'Console' });
    await screen.getByText(/Booting a simulated machine.*talks login: $/s).waitFor();
    await page.getByLabel('Type into the console').fill('root');
    await page.keyboard.press('Enter');
    await screen.getByText(/talks login: root\s+This is a simulated machine/).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByRole('status').getByText('The connection has ended').waitFor();
    await http.post(`/cloud/v1/instances/1/1/${machine.id}/stop`);
    await expect.poll(() => page.getByRole('button', { name: 'Connect' }).isDisabled()).toBe(true);
  });

  it('show the price of the instance that is on the screen', async () => {
    const { http } = browser.service;
    const { page, open } = await browser.visit();
    await open(`${PLACE}/instances/new`);
    const price = page.getByRole('region', { name: 'Price' });
    const size = page.getByLabel('Size of the volume in GiB');
    await size.fill('40');
    await size.fill('50');
    await page.getByLabel('Flavor').selectOption('g1-standard-2-8');
    const images = await http.get('/cloud/v1/images/1/1?limit=1');
    const subnets = await http.get('/cloud/v1/subnets/1/1?limit=1');
    const [{ id: subnet_id, network_id }] = subnets.body.results;
    const { body } = await http.post('/cloud/v2/pricing/1/1/instances', {
      flavor: 'g1-standard-2-8',
      interfaces: [{ type: 'subnet', network_id, subnet_id }],
      volumes: [{ source: 'image', image_id: images.body.results[0].id, size: 50, type_name: 'standard' }],
    });
    const amount = new Intl.NumberFormat('en-US', {
      style: 'currency',
      currency: body.currency_code,
      maximumFractionDigits: 2,
    }).format(body.total_price_per_month);
    await price.getByText(amount, { exact: true }).waitFor();
    expect(await price.getAttribute('aria-busy')).toBe('false');
  });

  it('can be used with a screen reader while rules are drafted', async () => {
    const group = await newGroup(browser.service.http, 'access');
    const { page, open } = await browser.visit();
    await open(`${PLACE}/security-groups/${group}`);
    await page.getByRole('button', { name: 'HTTPS', exact: true }).click();
    await page.getByRole('button', { name: 'Add a rule' }).click();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Apply' }).click();
    await page
      .getByRole('dialog')
      .getByText('none', { exact: true })
      .or(page.getByText('update security group'))
      .first()
      .waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});

/** Numbers from 0 to 1 that the seed decides (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function isIn(address: string, prefix: string): boolean {
  const bits = (text: string): string =>
    text
      .split('.')
      .map((byte) => Number(byte).toString(2).padStart(8, '0'))
      .join('');
  const [network = '', length] = prefix.split('/');
  return bits(address).startsWith(bits(network).slice(0, Number(length)));
}

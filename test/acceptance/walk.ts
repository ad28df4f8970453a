import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { DAY_MS, notAtTheEndOf } from '../support/clock.ts';
import type { HttpClient } from '../support/http-client.ts';

/** What the walk finds out first, like a stranger with nothing but a token. */
interface Place {
  project: number;
  region: number;
  gpuFlavor: string;
  flavor: string;
  version: string;
  template: { id: number; field: number };
  destination: number;
}

/**
 * Runs the nine operations of the specification from an empty database, over HTTP alone: each success, and
 * each refusal that the specification and contract name.
 */
export function describeWalk(setting: string, client: () => HttpClient): void {
  describe(`the nine operations ${setting}`, () => {
    let http: HttpClient;
    let at: Place;
    beforeAll(async () => {
      http = client();
      at = await lookAround(http);
    });
    const k8s = (name = '') => `/cloud/v1/k8s/clusters/${at.project}/${at.region}${name && `/${name}`}`;

    describe('update a Kubernetes cluster', () => {
      let keyId: string;
      let shareId: string;
      beforeAll(async () => {
        const key = await http.post(`/cloud/v1/ssh_keys/${at.project}`, { name: 'walk-key' });
        expect(key.status, key.text).toBe(201);
        keyId = key.body.id;
        const share = await http.post(`/cloud/v1/file_shares/${at.project}/${at.region}`, {
          name: 'walk-share',
          protocol: 'NFS',
          size: 100,
          type_name: 'vast',
          share_settings: { allowed_characters: 'NPL', path_length: 'NPL', root_squash: false },
        });
        expect(share.status, share.text).toBe(200);
        const made = await http.task(share.body[0]);
        expect(made).toMatchObject({ state: 'FINISHED', error: null });
        shareId = made.created_resources.file_shares[0];
        const created = await http.post(k8s(), {
          name: 'walk',
          version: at.version,
          keypair: 'walk-key',
          cni: { provider: 'cilium' },
          csi: { nfs: { vast_enabled: true } },
          pools: [
            {
              name: 'gpu',
              flavor_id: at.gpuFlavor,
              min_node_count: 1,
              max_node_count: 2,
              boot_volume_size: 100,
              boot_volume_type: 'standard',
              servergroup_policy: 'soft-anti-affinity',
            },
          ],
        });
        expect(created.status, created.text).toBe(200);
        expect(created.body).toHaveLength(1);
        expect(await http.task(created.body[0])).toMatchObject({
          state: 'FINISHED',
          task_type: 'create_k8s_cluster_v2',
        });
      });

      const groups = () => ({
        add_ons: {
          slurm: { enabled: true, file_share_id: shareId, ssh_key_ids: [keyId], worker_count: 1 },
        },
        authentication: {
          oidc: {
            client_id: 'kubernetes',
            groups_claim: 'groups',
            groups_prefix: 'oidc:',
            issuer_url: 'https://accounts.example.com',
            required_claims: { hd: 'example.com' },
            signing_algs: ['RS256', 'ES256'],
            username_claim: 'email',
            username_prefix: 'oidc:',
          },
        },
        autoscaler_config: {
          'scan-interval': '20s',
          expander: 'priority,least-waste',
          'scale-down-enabled': 'true',
          'max-empty-bulk-delete': '5',
          'scale-down-utilization-threshold': '0.7',
          'expendable-pods-priority-cutoff': '-10.5',
        },
        cni: {
          provider: 'cilium',
          cilium: {
            encryption: true,
            hubble_relay: true,
            hubble_ui: true,
            lb_acceleration: true,
            lb_mode: 'hybrid',
            tunnel: 'geneve',
          },
        },
        ddos_profile: {
          enabled: true,
          profile_template: at.template.id,
          fields: [{ base_field: at.template.field, field_value: [45046, 45047] }],
        },
        logging: {
          enabled: true,
          destination_region_id: at.destination,
          topic_name: 'walk-logs',
          retention_policy: { period: 45 },
        },
      });

      it('takes all six groups as one task, and shows them afterwards', async () => {
        const accepted = await http.patch(k8s('walk'), groups());
        expect(accepted.status, accepted.text).toBe(200);
        expect(accepted.body).toEqual([expect.any(String)]);
        const [taskId] = accepted.body;
        expect(await http.task(taskId)).toMatchObject({
          id: taskId,
          state: 'FINISHED',
          task_type: 'update_k8s_cluster_v2',
          error: null,
          project_id: at.project,
          region_id: at.region,
        });
        const after = await http.get(k8s('walk'));
        expect(after.body).toMatchObject({ ...groups(), task_id: null, status: 'Provisioned' });
      });

      /** Changes it twice, the second time while the first is under way, and waits for what was accepted. */
      async function changeTwice(seconds: number) {
        const change = (interval: number) =>
          http.patch(k8s('walk'), { autoscaler_config: { 'scan-interval': `${interval}s` } });
        const first = await change(seconds);
        const [during, second] = await Promise.all([http.get(k8s('walk')), change(seconds + 1)]);
        const accepted = [first, second].filter(({ status }) => status === 200);
        for (const { body } of accepted) await http.task(body[0]);
        return { taskId: first.body[0], during: during.body, second };
      }

      it('refuses a change while another one is under way, and names its task', async () => {
        let tried = await changeTwice(30);
        // On a busy machine, the first may be over when the second comes: then it is right to accept both.
        for (let seconds = 32; tried.second.status === 200 && seconds < 50; seconds += 2) {
          tried = await changeTwice(seconds);
        }
        const { taskId, during, second } = tried;
        expect(second.status, second.text).toBe(409);
        expect(second.body.message).toContain(taskId);
        expect([taskId, null]).toContain(during.task_id);
        const back = await http.patch(k8s('walk'), groups());
        expect(await http.task(back.body[0])).toMatchObject({ state: 'FINISHED' });
      });

      it('starts no task for a change that changes nothing', async () => {
        for (const body of [
          {},
          groups(),
          { authentication: null, autoscaler_config: null, cni: null, ddos_profile: null, logging: null },
        ]) {
          const { status, body: tasks } = await http.patch(k8s('walk'), body);
          expect(status).toBe(200);
          expect(tasks).toEqual([]);
        }
        const { body: named } = await http.patch(`/gcore/cloud/v2/k8s/clusters/${at.project}/${at.region}/walk`, {});
        expect(await http.task(named.tasks[0])).toMatchObject({ state: 'FINISHED', error: null });
      });

      it('merges autoscaler parameters by key, and {} resets them', async () => {
        const merged = await http.patch(k8s('walk'), { autoscaler_config: { 'scan-interval': '1m' } });
        await http.task(merged.body[0]);
        expect((await http.get(k8s('walk'))).body.autoscaler_config).toEqual({
          ...groups().autoscaler_config,
          'scan-interval': '1m',
        });
        const reset = await http.patch(k8s('walk'), { autoscaler_config: {} });
        await http.task(reset.body[0]);
        expect((await http.get(k8s('walk'))).body.autoscaler_config).toEqual({});
      });

      it.each([
        [{ add_ons: null }, 'add_ons'],
        [{ colour: 'red' }, 'colour'],
        [{ autoscaler_config: { 'scan-intervall': '10s' } }, 'autoscaler_config.scan-intervall'],
        [{ autoscaler_config: { 'scan-interval': '10' } }, 'autoscaler_config.scan-interval'],
        [{ autoscaler_config: { 'scan-interval': 10 } }, 'autoscaler_config.scan-interval'],
        [{ autoscaler_config: { 'scale-down-enabled': 'yes' } }, 'autoscaler_config.scale-down-enabled'],
        [
          { autoscaler_config: { 'max-total-unready-percentage': '101' } },
          'autoscaler_config.max-total-unready-percentage',
        ],
        [{ autoscaler_config: { expander: 'random,price' } }, 'autoscaler_config.expander'],
        [{ authentication: { oidc: { issuer_url: 'http://accounts.example.com' } } }, 'authentication.oidc.issuer_url'],
        [{ authentication: { oidc: { signing_algs: ['none'] } } }, 'authentication.oidc.signing_algs.0'],
        [{ cni: { provider: 'calico' } }, 'cni.provider'],
        [{ cni: { cilium: { hubble_relay: false, hubble_ui: true } } }, 'cni.cilium.hubble_ui'],
        [{ cni: { cilium: { lb_mode: 'dsr', tunnel: 'vxlan' } } }, 'cni.cilium.lb_mode'],
        [{ ddos_profile: { enabled: true, profile_template: 999_999 } }, 'ddos_profile.profile_template'],
        [
          { ddos_profile: { enabled: true, fields: [{ base_field: 10, field_value: [999] }] } },
          'ddos_profile.fields.0.field_value',
        ],
        [{ logging: { enabled: true, destination_region_id: 999_999 } }, 'logging.destination_region_id'],
        [{ logging: { enabled: true, topic_name: 'Not A Topic' } }, 'logging.topic_name'],
        [{ logging: { enabled: true, retention_policy: { period: 1826 } } }, 'logging.retention_policy.period'],
        [{ add_ons: { slurm: { enabled: true, worker_count: 1 } } }, 'add_ons.slurm.file_share_id'],
      ])('refuses %j and names %s', async (body, field) => {
        const { status, body: answer } = await http.patch(k8s('walk'), body);
        expect(status).toBe(400);
        expect(Object.keys(answer.invalid_fields).join()).toContain(field);
        expect((await http.get(k8s('walk'))).body.task_id).toBeNull();
      });

      it('answers 404 for a cluster that is not there', async () => {
        expect((await http.patch(k8s('nobody'), {})).status).toBe(404);
      });
    });

    describe('create a security group, and list the ports of an instance', () => {
      it('puts groups on every port of an instance at once', async () => {
        const instance = await createInstance(http, at);
        const names: string[] = [];
        for (const name of ['walk web', 'walk ssh']) {
          const created = await http.post(`/cloud/v1/securitygroups/${at.project}/${at.region}`, {
            security_group: {
              name,
              security_group_rules: [{ direction: 'ingress', protocol: 'tcp', port_range_min: 22, port_range_max: 22 }],
            },
            instances: [instance],
          });
          expect(created.status, created.text).toBe(200);
          expect(created.body.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/);
          names.push(name);
        }
        const ports = await http.get(`/cloud/v1/instances/${at.project}/${at.region}/${instance}/ports`);
        expect(ports.status, ports.text).toBe(200);
        expect(ports.body).toMatchObject({
          count: 1,
          results: [{ id: expect.any(String), name: expect.any(String) }],
        });
        const onPort = ports.body.results[0].security_groups.map((group: { name: string }) => group.name);
        expect(onPort).toEqual(expect.arrayContaining(names));
        const group = ports.body.results[0].security_groups.find((each: { name: string }) => each.name === 'walk web');
        const inUse = await http.delete(`/cloud/v1/securitygroups/${at.project}/${at.region}/${group.id}`);
        expect(inUse.status).toBe(409);
        expect(inUse.body.message).toContain(ports.body.results[0].id);
      });

      it('answers 404 for an instance that is not there', async () => {
        for (const id of [randomUUID(), 'not-a-uuid']) {
          expect((await http.get(`/cloud/v1/instances/${at.project}/${at.region}/${id}/ports`)).status).toBe(404);
        }
      });
    });

    describe('preview the price of a volume', () => {
      const preview = (body: object) => http.post(`/cloud/v1/pricing/${at.project}/${at.region}/volumes`, body);

      it('answers every field, and a month is 720 hours', async () => {
        const { status, body } = await preview({ source: 'new-volume', size: 100, type_name: 'ssd_hiiops' });
        expect(status).toBe(200);
        expect(Object.keys(body).sort()).toEqual([
          'currency_code',
          'discount_percent',
          'price_per_hour',
          'price_per_month',
          'price_status',
          'price_without_discount_per_month',
          'tax_percent',
        ]);
        expect(body.price_status).toBe('show');
        expect(body.price_per_month).toBeCloseTo(body.price_per_hour * 720, 8);
      });

      it.each([
        [{ source: 'new-volume' }, 'size'],
        [{ source: 'image' }, 'size'],
        [{ source: 'new-volume', size: 0 }, 'size'],
        [{ source: 'new-volume', size: 102_401 }, 'size'],
        [{ source: 'snapshot' }, 'snapshot_id'],
        [{ source: 'new-volume', size: 1, snapshot_id: randomUUID() }, 'snapshot_id'],
        [{ source: 'new-volume', size: 1, type_name: 'floppy' }, 'type_name'],
        [{ source: 'tape', size: 1 }, 'source'],
      ])('refuses %j and names %s', async (body, field) => {
        const { status, body: answer } = await preview(body);
        expect(status).toBe(400);
        expect(Object.keys(answer.invalid_fields)).toContain(field);
      });
    });

    describe('list AI tasks', () => {
      const list = async (query: string) => http.get(`/streaming/ai/tasks?${query}`);
      let transcription: string;
      let moderation: string;
      beforeAll(async () => {
        // They are listed by their day.
        await notAtTheEndOf(DAY_MS);
        const mark = (body: object) => http.post('/streaming/ai/tasks', body);
        transcription = (
          await mark({
            task_name: 'transcription',
            url: 'https://media.example.com/100%_real.mp4',
            client_user_id: 'walker',
          })
        ).body.task_id;
        moderation = (
          await mark({
            task_name: 'content-moderation',
            category: 'nsfw',
            url: 'https://media.example.com/b.mp4',
          })
        ).body.task_id;
        await http.post(`/streaming/ai/tasks/${moderation}/cancel`);
      });
      const ids = async (query: string) =>
        (await list(query)).body.results.map((task: { task_id: string }) => task.task_id);
      const both = () => [transcription, moderation].sort();

      it('filters by every parameter', async () => {
        expect((await ids('')).sort()).toEqual(both());
        expect(await ids(`task_id=${transcription}`)).toEqual([transcription]);
        expect(await ids('task_name=content-moderation')).toEqual([moderation]);
        expect(await ids('status=REVOKED')).toEqual([moderation]);
        expect(await ids('status=PENDING')).toEqual([transcription]);
        expect((await ids(`date_created=${new Date().toISOString().slice(0, 10)}`)).sort()).toEqual(both());
        expect(await ids('date_created=2001-01-01')).toEqual([]);
        expect(await ids('search=WALKER')).toEqual([transcription]);
        expect(await ids(`search=${encodeURIComponent('100%_REAL')}`)).toEqual([transcription]);
        expect(await ids(`search=${encodeURIComponent('%')}`)).toEqual([transcription]);
        expect(await ids('search=nsfw')).toEqual([moderation]);
        expect(await ids('ordering=task_id')).toEqual(both());
        expect(await ids('ordering=status')).toEqual([transcription, moderation]);
        expect(await ids('ordering=task_name')).toEqual([moderation, transcription]);
        expect(await ids('ordering=started_at')).toHaveLength(2);
      });

      it('pages', async () => {
        const first = await list('limit=1&ordering=task_id');
        expect(first.body).toMatchObject({
          count: 2,
          next: 'page=2&limit=1&ordering=task_id',
          previous: null,
        });
        const second = await list('limit=1&ordering=task_id&page=2');
        expect(second.body).toMatchObject({
          count: 2,
          next: null,
          previous: 'page=1&limit=1&ordering=task_id',
        });
        expect([first, second].map((page) => page.body.results[0].task_id)).toEqual(both());
        expect((await list('page=9')).body).toMatchObject({ count: 2, results: [] });
      });

      it.each([
        'page=0',
        'limit=0',
        'limit=1001',
        'status=DONE',
        'task_name=x',
        'ordering=-status',
        'date_created=yesterday',
        'colour=red',
      ])('refuses ?%s in the form of its area', async (query) => {
        const { status, body } = await list(query);
        expect(status).toBe(400);
        expect(body).toEqual({ error: expect.any(String) });
      });
    });

    describe('accounts', () => {
      it('lists activated paid features', async () => {
        const features = await http.get('/iam/admin/feature');
        const paid = features.body.find((feature: { is_free: boolean }) => !feature.is_free);
        const activated = await http.post('/iam/admin/paid_features', { client_id: 1, feature_id: paid.id });
        expect(activated.status, activated.text).toBe(201);
        const list = await http.get('/iam/admin/paid_features');
        expect(list.status).toBe(200);
        expect(list.body).toEqual([
          {
            id: activated.body.id,
            client_id: 1,
            feature_id: paid.id,
            feature: paid,
            created_date: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
          },
        ]);
      });

      it('updates notification settings, and says what is wrong by field', async () => {
        const base = '/iam/reselling/resellers/1/notification_settings';
        const made = await http.post(base, { notification_type: 'failed_login', email: 'ops@example.com' });
        expect(made.status, made.text).toBe(201);
        const updated = await http.patch(`${base}/${made.body.id}`, {
          notification_type: 'deletion_request',
          email: 'security@example.com',
          enabled: false,
        });
        expect(updated.status, updated.text).toBe(200);
        expect(updated.body).toEqual({
          id: made.body.id,
          reseller: 1,
          notification_type: 'deletion_request',
          email: 'security@example.com',
          enabled: false,
        });
        const bad = await http.patch(`${base}/${made.body.id}`, { notification_type: 'x', email: 'nobody' });
        expect(bad.status).toBe(400);
        expect(Object.keys(bad.body.errors).sort()).toEqual(['email', 'notification_type']);
        const long = `${'a'.repeat(250)}@example.com`;
        const tooLong = await http.patch(`${base}/${made.body.id}`, {
          notification_type: 'failed_login',
          email: long,
        });
        expect(Object.keys(tooLong.body.errors)).toEqual(['email']);
        const valid = { notification_type: 'failed_login', email: 'ops@example.com' };
        expect((await http.patch(`${base}/999999`, valid)).status).toBe(404);
        expect(
          (await http.patch(`/iam/reselling/resellers/999999/notification_settings/${made.body.id}`, valid)).status,
        ).toBe(403);
      });
    });

    describe('tasks and authentication', () => {
      it('answers a task under both addresses, and 404 for an unknown one', async () => {
        const { body: tasks } = await http.patch(k8s('walk'), { logging: { enabled: false } });
        const [id] = tasks;
        await http.task(id);
        const [short, long] = await Promise.all([http.get(`/v1/tasks/${id}`), http.get(`/cloud/v1/tasks/${id}`)]);
        expect(short.body).toEqual(long.body);
        expect(short.body).toMatchObject({
          user_id: expect.any(Number),
          client_id: 1,
          created_on: expect.any(String),
          data: expect.any(Object),
        });
        expect((await http.get(`/v1/tasks/${randomUUID()}`)).status).toBe(404);
      });

      it.each([
        [undefined, 'Authentication credentials were not provided.'],
        ['apikey 12', 'Bad token: 12'],
        ['apikey 1_wrong', 'Token is invalid or expired'],
        ['Basic abc', 'Given token not valid for any token type'],
      ])('answers 401 for %j in the body of each area', async (authorization, text) => {
        const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
        const call = (path: string) => fetch(http.base + path, { headers });
        const cloud = await call('/cloud/v1/projects');
        expect(cloud.status).toBe(401);
        expect(await cloud.json()).toMatchObject({
          exception_class: expect.any(String),
          message: text,
          request_id: expect.any(String),
          hint: expect.any(String),
        });
        const hint = expect.stringMatching(/apikey|token/i);
        expect(await (await call('/streaming/ai/tasks')).json()).toEqual({ error: text, hint });
        expect(await (await call('/iam/admin/paid_features')).json()).toEqual({ message: text, hint });
      });

      it('wants one space, the right word, and takes the word in any letter case', async () => {
        const answer = async (authorization: string) =>
          (await http.request('GET', '/cloud/v1/projects', { headers: { authorization } })).status;
        expect(await answer(`APIKey ${http.token}`)).toBe(200);
        expect(await answer(`apikey  ${http.token}`)).toBe(401);
        expect(await answer(`Bearer ${http.token}`)).toBe(401);
      });
    });
  });
}

async function lookAround(http: HttpClient): Promise<Place> {
  const projects = await http.get('/cloud/v1/projects');
  const project = projects.body.results.find((each: { is_default: boolean }) => each.is_default).id;
  const regions = await http.get('/cloud/v1/regions');
  const region = regions.body.results.find(
    (each: { has_k8s: boolean; file_share_types: string[] | null }) =>
      each.has_k8s && each.file_share_types?.includes('vast'),
  ).id;
  const flavors = (await http.get(`/cloud/v1/k8s/${project}/${region}/flavors`)).body.results as {
    flavor_id: string;
  }[];
  const versions = (await http.get(`/cloud/v2/k8s/${project}/${region}/create_versions`)).body.results as {
    version: string;
  }[];
  const templates = (await http.get(`/cloud/v1/ddos/profile-templates/${region}`)).body.results as {
    id: number;
    fields: {
      id: number;
      required: boolean;
      validation_schema: { type?: string; items?: { type?: string } };
    }[];
  }[];
  const template = templates.find(({ fields }) => {
    const [field] = fields;
    return (
      fields.length === 1 &&
      field?.validation_schema.type === 'array' &&
      field.validation_schema.items?.type === 'integer'
    );
  });
  const destinations = await http.get(`/cloud/v1/laas/${region}/destination_regions`);
  return {
    project,
    region,
    gpuFlavor: flavors.find(({ flavor_id: id }) => id.includes('gpu') && !id.startsWith('bm'))?.flavor_id ?? '',
    flavor:
      (
        (await http.get(`/cloud/v1/flavors/${project}/${region}?disabled=false`)).body.results as {
          flavor_id: string;
        }[]
      )[0]?.flavor_id ?? '',
    version: versions.find(({ version }) => version.startsWith('v1.32.'))?.version ?? '',
    template: { id: template?.id ?? 0, field: template?.fields[0]?.id ?? 0 },
    destination: destinations.body.results[0].region_id,
  };
}

async function createInstance(http: HttpClient, { project, region, flavor }: Place): Promise<string> {
  const networks = await http.get(`/cloud/v1/networks/${project}/${region}`);
  const network = networks.body.results.find((each: { default: boolean | null }) => each.default);
  const images = await http.get(`/cloud/v1/images/${project}/${region}`);
  const accepted = await http.post(`/cloud/v2/instances/${project}/${region}`, {
    flavor,
    name: 'walk-instance',
    interfaces: [{ type: 'any_subnet', network_id: network.id }],
    volumes: [{ source: 'image', image_id: images.body.results[0].id, size: 20, boot_index: 0 }],
  });
  expect(accepted.status, accepted.text).toBe(200);
  const task = await http.task(accepted.body[0]);
  expect(task).toMatchObject({ state: 'FINISHED', task_type: 'create_vm' });
  return task.created_resources.instances[0];
}

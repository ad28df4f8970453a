import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { parse } from 'yaml';

const Text = Type.String({ minLength: 1 });
/** A name or an ID of what the credentials belong to. */
const Auth = Type.Object({
  auth_url: Type.String({ pattern: '^https?://' }),
  application_credential_id: Type.Optional(Text),
  application_credential_name: Type.Optional(Text),
  application_credential_secret: Type.Optional(Text),
  username: Type.Optional(Text),
  user_id: Type.Optional(Text),
  password: Type.Optional(Text),
  user_domain_name: Type.Optional(Text),
  user_domain_id: Type.Optional(Text),
  project_name: Type.Optional(Text),
  project_id: Type.Optional(Text),
  project_domain_name: Type.Optional(Text),
  project_domain_id: Type.Optional(Text),
});
const Clouds = Type.Object({
  clouds: Type.Record(
    Type.String(),
    Type.Object({ auth: Auth, region_name: Type.Optional(Text), interface: Type.Optional(Text) }),
  ),
});
type Auth = Static<typeof Auth>;

/** How to log in at a cloud, and which of its endpoints to use. */
export interface CloudAccess {
  /** In clouds.yaml. */
  name: string;
  /** Of Keystone, up to and with `/v3`. */
  authUrl: string;
  /** The member `auth` of a request for a token (Identity API v3). */
  auth: object;
  /** Such as RegionOne; the only one of the catalogue if not given. */
  region: string | undefined;
  interface: string;
}

/**
 * Reads one cloud of a clouds.yaml, as OpenStack's own clients use it: the one of that name, or the only one.
 * @throws Error that says what is missing
 */
export function accessIn(text: string, name: string | undefined): CloudAccess {
  const content = parsed(text);
  if (!Value.Check(Clouds, content)) {
    const [first] = Value.Errors(Clouds, content);
    throw new Error(`it is no clouds.yaml: ${first?.instancePath.slice(1) || 'clouds'} ${first?.message ?? ''}`);
  }
  const names = Object.keys(content.clouds);
  const chosen = name ?? (names.length === 1 ? names[0] : undefined);
  const cloud = chosen === undefined ? undefined : content.clouds[chosen];
  if (chosen === undefined || !cloud)
    throw new Error(`it has the clouds ${names.join(', ')}; name one of them as "cloud" in the settings`);
  const { auth_url: url } = cloud.auth;
  const root = url.endsWith('/') ? url.slice(0, -1) : url;
  return {
    name: chosen,
    authUrl: root.endsWith('/v3') ? root : `${root}/v3`,
    auth: authOf(cloud.auth),
    region: cloud.region_name,
    interface: cloud.interface ?? 'public',
  };
}

/** Nothing of the text is told: there is a password in it. */
function parsed(text: string): unknown {
  try {
    return parse(text, { prettyErrors: false });
  } catch {
    throw new Error('it is no valid YAML; a password with special characters has to be in quotes');
  }
}

function authOf(auth: Auth): object {
  const user = {
    ...(auth.user_id ? { id: auth.user_id } : { name: auth.username, domain: domainOf(auth, 'user') }),
  };
  if (auth.application_credential_secret !== undefined) {
    const { application_credential_id: id, application_credential_name: named, application_credential_secret } = auth;
    const credential = id === undefined ? { name: named, user } : { id };
    return {
      identity: {
        methods: ['application_credential'],
        application_credential: { ...credential, secret: application_credential_secret },
      },
    };
  }
  if (auth.password === undefined || (auth.username ?? auth.user_id) === undefined)
    throw new Error('it needs an application credential, or a user with a password');
  if ((auth.project_id ?? auth.project_name) === undefined) throw new Error('its project is missing');
  const project = auth.project_id
    ? { id: auth.project_id }
    : { name: auth.project_name, domain: domainOf(auth, 'project') };
  return {
    identity: { methods: ['password'], password: { user: { ...user, password: auth.password } } },
    scope: { project },
  };
}

function domainOf(auth: Auth, of: 'project' | 'user'): object {
  const name = auth[`${of}_domain_name`];
  return name === undefined ? { id: auth[`${of}_domain_id`] ?? 'default' } : { name };
}

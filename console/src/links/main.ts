import '../ui/base.css';
import type { components, paths } from '../../types/api.d.ts';

// The pages that mailed links lead to. They need nobody to be signed in, and are there without the console. The token
// stands behind the # of the address, so that it gets into no log, and is taken away once it has done its work.

type Link = components['schemas']['MailedLink'];
type Target = keyof paths & `/${string}`;

const box = document.getElementById('link') as HTMLElement;
const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';

/** What the API refused, in its words. */
class Refusal extends Error {}

/** The pages may lie below a path of a proxy, so addresses are relative. @throws Refusal */
async function post(path: Target, body: object): Promise<unknown> {
  const answer = await fetch(`.${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => {
    throw new Refusal('The server can’t be reached. Try again.');
  });
  const text = await answer.text();
  if (answer.ok) return text === '' ? undefined : JSON.parse(text);
  throw new Refusal(textsIn(text).join(' ') || `The server answered ${answer.status}.`);
}

/** The areas of the API say what is wrong in different forms. */
function textsIn(text: string): string[] {
  try {
    const { detail, message, errors = {}, ...fields } = JSON.parse(text);
    if (Array.isArray(errors)) return errors.map((one) => one.detail ?? String(one));
    const texts = Object.values({ ...fields, ...errors }).flat();
    const known = texts.filter((one): one is string => typeof one === 'string');
    return known.length > 0 ? known : [detail ?? message].filter((one) => typeof one === 'string');
  } catch {
    return [];
  }
}

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]>,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}
const paragraph = (...children: (Node | string)[]) => element('p', {}, ...children);
const time = (text: string) => new Date(text).toLocaleString(undefined, { dateStyle: 'long', timeStyle: 'short' });

function show(title: string, ...parts: (Node | string)[]): void {
  document.title = title;
  box.replaceChildren(element('h1', { textContent: title }), ...parts);
}

/** Shows that it is done. The address no longer works, so it is taken away. */
function finish(title: string, ...parts: (Node | string)[]): void {
  history.replaceState(null, '', location.pathname);
  show(title, ...parts);
}

/** A form with one button. While it is sent, it can't be sent again; what is wrong is said above the button. */
function form(button: string, fields: HTMLElement[], send: (given: FormData) => Promise<void>): HTMLFormElement {
  const submit = element('button', { className: 'button primary', textContent: button });
  const made = element('form', {}, ...fields, submit);
  const complain = (error: Error) =>
    submit.before(element('p', { className: 'note bad', role: 'alert' }, error.message));
  made.addEventListener('submit', (event) => {
    event.preventDefault();
    made.querySelector('[role=alert]')?.remove();
    submit.disabled = true;
    void send(new FormData(made))
      .catch(complain)
      .finally(() => {
        submit.disabled = false;
      });
  });
  return made;
}

function field(label: string, properties: Partial<HTMLInputElement>): HTMLElement {
  const input = element('input', { className: 'input', required: true, id: properties.name ?? '', ...properties });
  return element('div', { className: 'field' }, element('label', { htmlFor: input.id, textContent: label }), input);
}

/** A password, which may be looked at. */
function passwordFields(label: string, autocomplete: 'current-password' | 'new-password'): HTMLElement[] {
  const least = autocomplete === 'new-password' ? { minLength: 8 } : {};
  const password = field(label, { name: 'password', type: 'password', autocomplete, maxLength: 256, ...least });
  const shown = element('input', { type: 'checkbox', id: 'shown' });
  const input = password.querySelector('input') as HTMLInputElement;
  shown.addEventListener('change', () => {
    input.type = shown.checked ? 'text' : 'password';
  });
  const check = element('label', { className: 'row', htmlFor: 'shown' }, shown, 'Show the password');
  return [password, check];
}

const signIn = () =>
  document.documentElement.dataset.console === 'on'
    ? [paragraph(element('a', { href: './console/', textContent: 'Sign in' }))]
    : [];

const PAGES: Record<Link['kind'], (link: Link) => void> = {
  invitation({ reseller, company, email, expires_at, has_login }) {
    const fields = has_login
      ? passwordFields('Your password', 'current-password')
      : passwordFields('New password', 'new-password');
    show(
      `Join ${company}`,
      paragraph(`${email} is invited to the account of ${company} at ${reseller}, until ${time(expires_at ?? '')}.`),
      paragraph(
        has_login
          ? 'You log in here with this address already. Give the password that you have.'
          : 'Choose a password of 8 characters or more.',
      ),
      form('Join', fields, async (given) => {
        await post('/iam/auth/accept_invitation', { token, password: given.get('password') });
        finish('You have joined', paragraph(`You may now log in to ${company} as ${email}.`), ...signIn());
      }),
    );
  },
  reset({ reseller, email }) {
    show(
      'Choose a new password',
      paragraph(`For ${email} at ${reseller}. It has 8 characters or more. All logins of this user end.`),
      form('Set the password', passwordFields('New password', 'new-password'), async (given) => {
        await post('/tradewind/v1/password_reset', { token, password: given.get('password') });
        finish('The password is set', paragraph(`${email} may now log in with it.`), ...signIn());
      }),
    );
  },
  deletion(link) {
    const { reseller, company, email, done } = link;
    const confirmed = () =>
      finish('The request is confirmed', paragraph(`${reseller} has been told, and will delete ${company}.`));
    if (done) {
      confirmed();
      return;
    }
    show(
      `Delete ${company}?`,
      paragraph(`${email} asks ${reseller} to delete the account of ${company}, with everything in it.`),
      paragraph('If that wasn’t you, close this page, take the request back and change your password.'),
      form('Confirm the deletion', [], async () => {
        await post('/tradewind/v1/deletion_request/confirmation', { token });
        confirmed();
      }),
    );
  },
  subscription(link) {
    const { reseller, email, notification_type, done } = link;
    const about = notification_type === 'failed_login' ? 'failed logins' : 'deletions of accounts';
    show(
      done ? 'These mails have ended' : 'End these mails?',
      paragraph(`${reseller} ${done ? 'no longer sends' : 'sends'} mails about ${about} to ${email}.`),
      form(done ? 'Let them come again' : 'End them', [], async () => {
        await post('/tradewind/v1/mail_subscription', { token, enabled: done });
        PAGES.subscription({ ...link, done: !done });
      }),
    );
  },
};

/** The link has done its work, or there was none. */
function refuse(message: string): void {
  if (!location.pathname.endsWith('/reset-password')) {
    show('This link doesn’t work', paragraph(message), paragraph('Ask whoever sent it for a new one.'));
    return;
  }
  const address = field('E-mail address', { name: 'email', type: 'email', autocomplete: 'username', maxLength: 254 });
  show(
    'This link doesn’t work',
    paragraph(message),
    form('Send me a new one', [address], async (given) => {
      await post('/iam/auth/password/forgot', { email: given.get('email') });
      finish('Look into your mail', paragraph('If somebody logs in with this address, a link is on its way.'));
    }),
  );
}

async function open(): Promise<void> {
  if (token === '') {
    refuse('It has no token. Open the link as it is in the mail.');
    return;
  }
  try {
    const link = (await post('/tradewind/v1/mailed_links', { token })) as Link;
    PAGES[link.kind](link);
  } catch (error) {
    refuse((error as Error).message);
  }
}

void open();
// An address that differs in nothing else loads no page.
addEventListener('hashchange', () => location.reload());

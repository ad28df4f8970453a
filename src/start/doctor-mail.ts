import type { Config } from '../config.ts';
import { smtpOutlet } from '../mail/sending/outlets.ts';
import { faultOf } from '../mail/sending/refusals.ts';
import { type Finding, limited, missing, ok } from './finding.ts';
import { letterheadOf } from './mail.ts';

const WHAT = 'Mail';

/** Reports where mails go, and whether the server takes them. */
export async function mailFinding(config: Config): Promise<Finding> {
  const { smtpUrl, folder, from, publicUrl } = config.mail;
  try {
    letterheadOf(config);
  } catch (error) {
    return missing(WHAT, (error as Error).message);
  }
  if (smtpUrl === undefined) {
    return limited(WHAT, `put into ${folder} and not sent; set TRADEWIND_SMTP_URL (docs/mail.md)`);
  }
  // Never the whole URL, which has a password.
  const { protocol, host } = new URL(smtpUrl);
  const where = `${protocol}//${host}, from ${from}`;
  const outlet = smtpOutlet(smtpUrl);
  try {
    await outlet.verify();
  } catch (error) {
    return limited(WHAT, `${where}: ${faultOf(error)}`);
  } finally {
    outlet.close();
  }
  return publicUrl === undefined
    ? limited(WHAT, `${where}, with tokens instead of links; set TRADEWIND_PUBLIC_URL (docs/mail.md)`)
    : ok(WHAT, where);
}

import type { FieldProblem } from '../../../../lib/errors.ts';

/** Types of rules that compare something that has a name. */
const WITH_KEY = ['COOKIE', 'HEADER', 'SSL_DN_FIELD'];
/** Types that compare a text of the request. */
const COMPARED = ['FILE_TYPE', 'HEADER', 'HOST_NAME', 'PATH'];
/** Octavia compares these in no other way. */
const ONLY: Record<string, readonly string[]> = {
  FILE_TYPE: ['EQUAL_TO', 'REGEX'],
  SSL_CONN_HAS_CERT: ['EQUAL_TO'],
  SSL_VERIFY_RESULT: ['EQUAL_TO'],
};

/** What may be in a value, as in Octavia (common/constants.py): RFC 6265 for cookies, RFC 7230 for headers. */
const COOKIE_VALUE = /^[a-zA-Z0-9!#$%&'()*+,\-./:<=>?@[\]^_`{|}~]+$/;
const HEADER_VALUE = /^(?:[\x21-\x7e]+|"[\t\x20-\x7e]*")$/;

export interface RuleValues {
  type: string;
  compare_type: string;
  key: string | null;
  value: string;
}

/** Returns the problems of a rule, new or changed. */
export function ruleProblems({ type, compare_type, key, value }: RuleValues): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const complain = (field: string, message: string) => void problems.push({ field, message });
  const keyed = WITH_KEY.includes(type);
  if (keyed && key === null) complain('key', `Is required for ${type}.`);
  if (!keyed && key !== null) complain('key', `Is only for ${WITH_KEY.join(', ')}; leave it out.`);
  const ways = ONLY[type];
  if (ways && !ways.includes(compare_type)) {
    complain('compare_type', `Must be ${ways.join(' or ')} for ${type}.`);
  }
  if (type === 'SSL_CONN_HAS_CERT' && value !== 'True') complain('value', 'Must be True for SSL_CONN_HAS_CERT.');
  if (type === 'SSL_VERIFY_RESULT' && !/^\d{1,5}$/.test(value)) {
    complain('value', 'Must be a number for SSL_VERIFY_RESULT.');
  }
  if (compare_type === 'REGEX') {
    if (!isRegularExpression(value)) complain('value', 'Must be a regular expression, such as ^/img/[0-9]+$.');
  } else if (type === 'COOKIE' && !COOKIE_VALUE.test(value)) {
    complain(
      'value',
      'Must be what a cookie can have: letters, digits and signs, without spaces, quotes and semicolons.',
    );
  } else if (COMPARED.includes(type) && !HEADER_VALUE.test(value)) {
    complain('value', 'Must be ASCII letters, digits and signs. Put a value with spaces into double quotes.');
  }
  return problems;
}

/**
 * HAProxy has PCRE, and Octavia takes what Python reads as well: JavaScript knows less. What is checked is the rest:
 * brackets, ranges and quantifiers.
 */
function isRegularExpression(text: string): boolean {
  const plain = text
    // A range that has an escape may be any.
    .replace(/-?\\[\s\S]-?/g, 'x')
    // The first bracket in brackets is a character.
    .replace(/\[(\^?)\]/g, '[$1x')
    .replace(/\(\?#[^)]*(\)?)/g, (comment, end) => (end === '' ? comment : ''))
    .replace(/\(\?P=\w{1,100}\)/g, 'x')
    .replace(/\(\?P</g, '(?<')
    .replace(/\(\?\(\w{1,100}\)/g, '(?:')
    .replace(/\(\?[>|]/g, '(?:')
    .replace(/\(\?[a-zA-Z-]{1,20}([:)])/g, (_, end) => (end === ':' ? '(?:' : ''))
    .replace(/([*+?]|\d\})\+/g, '$1');
  try {
    new RegExp(plain);
    return true;
  } catch {
    return false;
  }
}

export function targetProblems(field: 'redirect_prefix' | 'redirect_url', text: string): FieldProblem[] {
  if (field === 'redirect_prefix' && text.startsWith('/')) return [];
  const url = URL.parse(text);
  if (url && (url.protocol === 'http:' || url.protocol === 'https:')) return [];
  const or = field === 'redirect_prefix' ? ', or a path such as /api' : '';
  return [{ field, message: `Must be an address such as https://www.example.com${or}.` }];
}

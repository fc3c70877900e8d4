import { type Command, InvalidArgumentError } from 'commander';
import { readConnection } from '../../launcher/local-system.ts';
import { type Membership, removeRole, setRole } from '../../store/accounts/memberships.ts';
import { generatePassword } from '../../store/accounts/password.ts';
import type { Role } from '../../store/accounts/role.ts';
import { createSignInLink } from '../../store/accounts/sign-in-links.ts';
import {
  createUser,
  findUserId,
  isEmailVerified,
  listUsers,
  reclaimUser,
  resetSecondFactor,
  setDisabled,
  setOperator,
  setPassword,
} from '../../store/accounts/users.ts';
import type { Database } from '../../store/db/database.ts';
import { parseEmail, parseHttpUrl, parseId, parseRole, parseRoleOrNone } from '../arguments.ts';
import { readConfig, requireSpace, withDatabase } from '../database.ts';
import { CommandError, type Host, printJson } from '../host.ts';
import { readPassword } from '../password-input.ts';

export function addUserCommands(program: Command, host: Host): void {
  const user = program.command('user').description('users of the dashboard');
  const addCommand: AddCommand = (name, description) =>
    user.command(name).description(description).requiredOption('--email <email>', 'the user', parseEmail);
  addCreate(user, host);
  addSignIn(addCommand, host);
  addRole(addCommand, host);
  addCommand(
    'reset-second-factor',
    'remove the authenticator app, passkeys and recovery codes of a user who lost them, and end all sessions of the user',
  ).action(
    onUser(host, readNothing, async (database, { userId }) => {
      await resetSecondFactor(database, userId);
      return {};
    }),
  );
  for (const [name, isDisabled, description] of [
    ['disable', true, 'block the sign-in of a user and end all sessions of the user'],
    ['enable', false, 'allow a disabled user to sign in again'],
  ] as const)
    addCommand(name, description).action(
      onUser(host, readNothing, async (database, { userId }) => {
        await setDisabled(database, userId, isDisabled);
        return { isDisabled };
      }),
    );
  addCommand(
    'operator',
    'let a user see the state of the installation in the dashboard; ends all sessions of the user',
  )
    .option('--revoke', 'take it away again')
    .action(
      onUser(host, isNotRevoked, async (database, account, isOperator) => {
        if (isOperator) await warnUnlessVerified(host, database, account);
        await setOperator(database, account.userId, isOperator);
        return { isOperator };
      }),
    );
  user
    .command('list')
    .description('all users, with their spaces')
    .action(() => withDatabase(host, async (database) => printJson(host, await listUsers(database))));
}

/** Adds a command about the user of `--email`. */
type AddCommand = (name: string, description: string) => Command;

function addRole(addCommand: AddCommand, host: Host): void {
  addCommand('role', "set a user's role in a space, or remove the user from it")
    .requiredOption('--space <id>', 'the space')
    .requiredOption('--role <role>', 'owner, admin, member, viewer, or none', parseRoleOrNone)
    .action(
      onUser(host, readMembership, async (database, account, { space, role }) => {
        const spaceId = await requireSpace(database, space);
        const { userId } = account;
        if (role !== null) await warnUnlessVerified(host, database, account);
        if (role === null) await removeRole(database, spaceId, userId);
        else await setRole(database, spaceId, { userId, role });
        return { spaceId, role };
      }),
    );
}

interface Account {
  userId: string;
  email: string;
}

/**
 * The action of a command for the user of `--email`.
 * @param readInput reads the other options, before the database is opened.
 * @param change returns what to print beside the user.
 */
function onUser<Options, Input>(
  host: Host,
  readInput: (options: Options) => Input | Promise<Input>,
  change: (database: Database, account: Account, input: Input) => Promise<object>,
) {
  return async (options: Options & { email: string }) => {
    const { email } = options;
    const input = await readInput(options);
    await withDatabase(host, async (database) => {
      const account = { userId: await requireUser(database, email), email };
      await printJson(host, { ...account, ...(await change(database, account, input)) });
    });
  };
}

const readNothing = () => undefined;

const isNotRevoked = ({ revoke = false }: { revoke?: boolean }) => !revoke;

const readMembership = ({ space, role }: { space: string; role: Role | 'none' }) => ({
  space,
  role: role === 'none' ? null : role,
});

function addCreate(user: Command, host: Host): void {
  const memberships: Membership[] = [];
  addPasswordOption(user.command('create').description('create a user'))
    .requiredOption('--email <email>', 'e-mail address to sign in with', parseEmail)
    .option('--space <id>', 'a space of the user; may be repeated', (text) => {
      memberships.push({ spaceId: parseId('space', text), role: 'viewer' });
    })
    .option(
      '--role <role>',
      'role in the preceding --space: owner, admin, member, or viewer (default)',
      (text) => {
        const last = memberships.at(-1);
        if (last === undefined) throw new InvalidArgumentError('It must follow a --space.');
        last.role = parseRole(text);
      },
    )
    .action(async (options: PasswordOptions & { email: string }) => {
      const { email } = options;
      const password = await choosePassword(host, options);
      await withDatabase(host, async (database) => {
        for (const { spaceId } of memberships) await requireSpace(database, spaceId);
        const created = await createUser(database, { email, password: password.text, memberships });
        if (created === undefined) throw new CommandError(`The user ${email} already exists.`);
        await printJson(host, { ...created, email, ...password.shown, spaces: memberships });
      });
    });
}

/** Passwords and links. */
function addSignIn(addCommand: AddCommand, host: Host): void {
  const addUrlOption = (command: Command) =>
    command.option(
      '--url <url>',
      'address of the dashboard; by default the one that `weir start` runs',
      parseHttpUrl,
    );
  const readPasswordOf = (options: PasswordOptions) => choosePassword(host, options);
  const readUrl = ({ url }: { url?: string }) => findDashboardUrl(host, url);
  addPasswordOption(addCommand('password', 'set a new password and end all sessions of the user')).action(
    onUser(host, readPasswordOf, async (database, { userId }, { text, shown }) => {
      await setPassword(database, userId, text);
      return shown;
    }),
  );
  addUrlOption(addCommand('link', 'create a link that signs the user in once, valid for 15 minutes')).action(
    onUser(host, readUrl, async (database, account, dashboardUrl) => {
      await warnUnlessVerified(host, database, account);
      return { link: await createSignInLink(database, account.userId, dashboardUrl) };
    }),
  );
  addUrlOption(
    addCommand(
      'reclaim',
      'return an account to the owner of its e-mail address: sets a new password and creates a sign-in link',
    ),
  ).action(
    onUser(host, readUrl, async (database, { userId }, dashboardUrl) => {
      const password = generatePassword();
      await reclaimUser(database, userId, password);
      return { link: await createSignInLink(database, userId, dashboardUrl), password };
    }),
  );
}

function findDashboardUrl(host: Host, url: string | undefined): string {
  const dashboardUrl = url ?? readConnection(readConfig(host).WEIR_DATA_DIR)?.dashboardUrl;
  if (dashboardUrl === undefined) throw new CommandError('Set --url to the address of the dashboard.');
  return dashboardUrl.replace(/\/+$/, '');
}

/** Warns when the e-mail address was never verified: the user may not own it. */
async function warnUnlessVerified(host: Host, database: Database, user: Account): Promise<void> {
  if (await isEmailVerified(database, user.userId)) return;
  host.stderr.write(
    `Warning: ${user.email} joined by an invitation, and nobody has verified that the address belongs to this user. ` +
      `If it does not: weir user reclaim --email ${user.email}\n`,
  );
}

interface PasswordOptions {
  passwordStdin?: boolean;
}

function addPasswordOption(command: Command): Command {
  return command.option(
    '--password-stdin',
    'read the password from the first line of stdin; by default one is generated and shown once',
  );
}

/** @returns the password, and the part of the output with it: only a generated one is printed. */
async function choosePassword(
  host: Host,
  { passwordStdin }: PasswordOptions,
): Promise<{ text: string; shown: { password?: string } }> {
  if (passwordStdin) return { text: await readPassword(host), shown: {} };
  const password = generatePassword();
  return { text: password, shown: { password } };
}

async function requireUser(database: Database, email: string): Promise<string> {
  const userId = await findUserId(database, email);
  if (userId === undefined) throw new CommandError(`There is no user ${email}.`);
  return userId;
}

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
  addCreate(user, host);
  addPassword(user, host);
  addLink(user, host);

  user
    .command('role')
    .description("set a user's role in a space, or remove the user from it")
    .requiredOption('--email <email>', 'the user', parseEmail)
    .requiredOption('--space <id>', 'the space')
    .requiredOption('--role <role>', 'owner, admin, member, viewer, or none', parseRoleOrNone)
    .action((options: { email: string; space: string; role: Role | 'none' }) =>
      withDatabase(host, async (database) => {
        const { email, role } = options;
        const spaceId = await requireSpace(database, options.space);
        const userId = await requireUser(database, email);
        if (role !== 'none') await warnUnlessVerified(host, database, { userId, email });
        if (role === 'none') await removeRole(database, spaceId, userId);
        else await setRole(database, spaceId, { userId, role });
        await printJson(host, { userId, email, spaceId, role: role === 'none' ? null : role });
      }),
    );

  addReclaim(user, host);
  addResetSecondFactor(user, host);
  addDisable(user, host);

  user
    .command('operator')
    .description(
      'let a user see the state of the installation in the dashboard; ends all sessions of the user',
    )
    .requiredOption('--email <email>', 'the user', parseEmail)
    .option('--revoke', 'take it away again')
    .action(({ email, revoke = false }: { email: string; revoke?: boolean }) =>
      withDatabase(host, async (database) => {
        const userId = await requireUser(database, email);
        if (!revoke) await warnUnlessVerified(host, database, { userId, email });
        await setOperator(database, userId, !revoke);
        await printJson(host, { userId, email, isOperator: !revoke });
      }),
    );

  user
    .command('list')
    .description('all users, with their spaces')
    .action(() => withDatabase(host, async (database) => printJson(host, await listUsers(database))));
}

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

function addPassword(user: Command, host: Host): void {
  addPasswordOption(
    user.command('password').description('set a new password and end all sessions of the user'),
  )
    .requiredOption('--email <email>', 'the user', parseEmail)
    .action(async (options: PasswordOptions & { email: string }) => {
      const { email } = options;
      const password = await choosePassword(host, options);
      await withDatabase(host, async (database) => {
        const userId = await requireUser(database, email);
        await setPassword(database, userId, password.text);
        await printJson(host, { userId, email, ...password.shown });
      });
    });
}

function addLink(user: Command, host: Host): void {
  user
    .command('link')
    .description('create a link that signs the user in once, valid for 15 minutes')
    .requiredOption('--email <email>', 'the user', parseEmail)
    .option(
      '--url <url>',
      'address of the dashboard; by default the one that `weir start` runs',
      parseHttpUrl,
    )
    .action(({ email, url }: { email: string; url?: string }) =>
      withDatabase(host, async (database) => {
        const dashboardUrl = findDashboardUrl(host, url);
        const userId = await requireUser(database, email);
        await warnUnlessVerified(host, database, { userId, email });
        const link = await createSignInLink(database, userId, dashboardUrl);
        await printJson(host, { userId, email, link });
      }),
    );
}

function addReclaim(user: Command, host: Host): void {
  user
    .command('reclaim')
    .description(
      'return an account to the owner of its e-mail address: sets a new password and creates a sign-in link',
    )
    .requiredOption('--email <email>', 'the address', parseEmail)
    .option(
      '--url <url>',
      'address of the dashboard; by default the one that `weir start` runs',
      parseHttpUrl,
    )
    .action(({ email, url }: { email: string; url?: string }) =>
      withDatabase(host, async (database) => {
        const dashboardUrl = findDashboardUrl(host, url);
        const userId = await requireUser(database, email);
        const password = generatePassword();
        await reclaimUser(database, userId, password);
        const link = await createSignInLink(database, userId, dashboardUrl);
        await printJson(host, { userId, email, link, password });
      }),
    );
}

function addResetSecondFactor(user: Command, host: Host): void {
  user
    .command('reset-second-factor')
    .description(
      'remove the authenticator app, passkeys and recovery codes of a user who lost them, and end all sessions of the user',
    )
    .requiredOption('--email <email>', 'the user', parseEmail)
    .action(({ email }: { email: string }) =>
      withDatabase(host, async (database) => {
        const userId = await requireUser(database, email);
        await resetSecondFactor(database, userId);
        await printJson(host, { userId, email });
      }),
    );
}

function findDashboardUrl(host: Host, url: string | undefined): string {
  const dashboardUrl = url ?? readConnection(readConfig(host).WEIR_DATA_DIR)?.dashboardUrl;
  if (dashboardUrl === undefined) throw new CommandError('Set --url to the address of the dashboard.');
  return dashboardUrl.replace(/\/+$/, '');
}

/** Warns when the e-mail address was never verified: the user may not own it. */
async function warnUnlessVerified(
  host: Host,
  database: Database,
  user: { userId: string; email: string },
): Promise<void> {
  if (await isEmailVerified(database, user.userId)) return;
  host.stderr.write(
    `Warning: ${user.email} joined by an invitation, and nobody has verified that the address belongs to this user. ` +
      `If it does not: weir user reclaim --email ${user.email}\n`,
  );
}

function addDisable(user: Command, host: Host): void {
  const commands = [
    ['disable', true, 'block the sign-in of a user and end all sessions of the user'],
    ['enable', false, 'allow a disabled user to sign in again'],
  ] as const;
  for (const [name, isDisabled, description] of commands) {
    user
      .command(name)
      .description(description)
      .requiredOption('--email <email>', 'the user', parseEmail)
      .action(({ email }: { email: string }) =>
        withDatabase(host, async (database) => {
          const userId = await requireUser(database, email);
          await setDisabled(database, userId, isDisabled);
          await printJson(host, { userId, email, isDisabled });
        }),
      );
  }
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

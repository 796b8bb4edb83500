//! Splits a shell script into simple commands.

/// The commands of a script, each as its words, without assignments in front and without redirections.
pub fn commands(script: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut lexer = Lexer::new(script);
    let mut is_redirected = false;
    while let Some(token) = lexer.next() {
        match token {
            Token::Word(_) if is_redirected => is_redirected = false,
            Token::Word(word) => commands.last_mut().expect("there is always one").push(word),
            Token::Redirection => is_redirected = true,
            Token::End => commands.push(Vec::new()),
        }
    }
    for command in &mut commands {
        let is_assignment = |word: &String| word.split_once('=').is_some_and(|(name, _)| is_variable(name));
        let assignments = command.iter().take_while(|word| is_assignment(word)).count();
        command.drain(..assignments);
        if command.first().is_some_and(|prompt| prompt == "$") {
            command.remove(0);
        }
    }
    commands.retain(|command| !command.is_empty());
    commands
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

enum Token {
    Word(String),
    Redirection,
    /// The end of a command.
    End,
}

struct Lexer<'a> {
    rest: &'a str,
    /// The line that ends the here-document which begins on the next line.
    here_document: Option<String>,
}

impl<'a> Lexer<'a> {
    fn new(script: &'a str) -> Self {
        Lexer {
            rest: script,
            here_document: None,
        }
    }

    fn next(&mut self) -> Option<Token> {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        while let Some(rest) = self.rest.strip_prefix("\\\n") {
            self.rest = rest.trim_start_matches([' ', '\t']);
        }
        let first = self.rest.chars().next()?;
        match first {
            '#' => {
                self.rest = self.rest.find('\n').map_or("", |end| &self.rest[end..]);
                self.next()
            }
            '\n' => {
                self.rest = &self.rest[1..];
                self.skip_here_document();
                Some(Token::End)
            }
            '|' | '&' | ';' | '(' | ')' => {
                self.rest = &self.rest[1..];
                Some(Token::End)
            }
            '<' if self.rest.starts_with("<<") => {
                self.rest = &self.rest[2..];
                self.here_document = Some(self.word());
                self.next()
            }
            '<' | '>' => {
                self.rest = self.rest.trim_start_matches(['<', '>', '&']);
                Some(Token::Redirection)
            }
            _ if self.rest.starts_with("$(") => {
                self.rest = &self.rest[2..];
                Some(Token::End)
            }
            _ => Some(Token::Word(self.word())),
        }
    }

    /// One word, without its quotes.
    fn word(&mut self) -> String {
        let mut word = String::new();
        let mut quote: Option<char> = None;
        let mut chars = self.rest.char_indices();
        for (at, c) in &mut chars {
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (None, '\'' | '"') => quote = Some(c),
                (None, c) if c.is_whitespace() || "|&;()<>".contains(c) => {
                    self.rest = &self.rest[at..];
                    return word;
                }
                (_, c) => word.push(c),
            }
        }
        self.rest = "";
        word
    }

    fn skip_here_document(&mut self) {
        if let Some(end) = self.here_document.take() {
            while let Some((line, rest)) = self.rest.split_once('\n') {
                self.rest = rest;
                if line == end {
                    return;
                }
            }
            self.rest = "";
        }
    }
}

#[test]
fn a_script_is_split_into_commands() {
    let script = "A=1 one 'a b' \\\n  --x \"$Y\" > file # note\nKEY=$(two | three); cat > f <<'END'\nfour five\nEND\n$ six && seven\n";
    let commands = commands(script);
    let words: Vec<Vec<&str>> = commands
        .iter()
        .map(|command| command.iter().map(String::as_str).collect())
        .collect();
    let expected: [&[&str]; 6] = [
        &["one", "a b", "--x", "$Y"],
        &["two"],
        &["three"],
        &["cat"],
        &["six"],
        &["seven"],
    ];
    assert_eq!(words, expected);
}

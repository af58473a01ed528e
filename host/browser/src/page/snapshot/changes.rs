//! What differs between two snapshots, line by line.

/// Lines that are compared each with each; what is larger is told as a whole.
const COMPARED: usize = 2000;

/// `+` and `-` before lines that came and went; unchanged ones are counted, but for those next to a change.
pub(super) fn between(before: &[String], after: &[String]) -> String {
    if before == after {
        return "no changes".into();
    }
    let same_begin = before.iter().zip(after).take_while(|(old, new)| old == new).count();
    let (before_rest, after_rest) = (&before[same_begin..], &after[same_begin..]);
    let same_end = before_rest.iter().rev().zip(after_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let old = &before_rest[..before_rest.len() - same_end];
    let new = &after_rest[..after_rest.len() - same_end];

    let mut marked: Vec<(char, &String)> = before[..same_begin].iter().map(|line| (' ', line)).collect();
    if old.len() > COMPARED || new.len() > COMPARED {
        marked.extend(old.iter().map(|line| ('-', line)));
        marked.extend(new.iter().map(|line| ('+', line)));
    } else {
        marked.extend(common(old, new));
    }
    marked.extend(after_rest[after_rest.len() - same_end..].iter().map(|line| (' ', line)));
    folded(&marked)
}

/// By the longest common subsequence.
fn common<'a>(old: &'a [String], new: &'a [String]) -> Vec<(char, &'a String)> {
    let width = new.len() + 1;
    let mut length = vec![0_u16; (old.len() + 1) * width];
    for (at, line) in old.iter().enumerate().rev() {
        for (to, other) in new.iter().enumerate().rev() {
            length[at * width + to] = if line == other {
                length[(at + 1) * width + to + 1] + 1
            } else {
                length[(at + 1) * width + to].max(length[at * width + to + 1])
            };
        }
    }
    let (mut at, mut to) = (0, 0);
    let mut marked = Vec::new();
    while at < old.len() || to < new.len() {
        if at < old.len() && to < new.len() && old[at] == new[to] {
            marked.push((' ', &old[at]));
            (at, to) = (at + 1, to + 1);
        } else if to == new.len() || (at < old.len() && length[(at + 1) * width + to] >= length[at * width + to + 1]) {
            marked.push(('-', &old[at]));
            at += 1;
        } else {
            marked.push(('+', &new[to]));
            to += 1;
        }
    }
    marked
}

fn folded(marked: &[(char, &String)]) -> String {
    let changed = |at: usize| marked.get(at).is_some_and(|(mark, _)| *mark != ' ');
    let mut text = Vec::new();
    let mut left_out = 0;
    for (at, (mark, line)) in marked.iter().enumerate() {
        if *mark != ' ' || changed(at + 1) || (at > 0 && changed(at - 1)) {
            if left_out > 0 {
                text.push(format!("  … {left_out} unchanged"));
                left_out = 0;
            }
            text.push(format!("{mark} {line}"));
        } else {
            left_out += 1;
        }
    }
    if left_out > 0 {
        text.push(format!("  … {left_out} unchanged"));
    }
    text.join("\n")
}

#[cfg(test)]
mod tests {
    use super::between;

    fn lines(text: &str) -> Vec<String> {
        text.split(' ').map(Into::into).collect()
    }

    #[test]
    fn changes_are_shown_with_what_is_beside_them() {
        assert_eq!(between(&lines("a b c"), &lines("a b c")), "no changes");
        assert_eq!(
            between(&lines("a b c d e f"), &lines("a b c x e f")),
            "  … 2 unchanged\n  c\n- d\n+ x\n  e\n  … 1 unchanged"
        );
        assert_eq!(between(&lines("a b"), &lines("x a y b")), "+ x\n  a\n+ y\n  b");
        assert_eq!(between(&lines("a b c"), &lines("c")), "- a\n- b\n  c");
    }
}
